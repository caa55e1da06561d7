import { ApiError } from "@scrip/errors";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import type {
  ListPublicationsRequest,
  PublicationService,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { voucherTypeOf, VOUCHER_TYPES } from "../domain/voucher.ts";
import { loadPublications } from "../loading/publications.ts";
import { pageFromProto } from "../mapping/page.ts";
import {
  listPublications as list,
  ofVoucher,
  publicationFilters,
} from "../store/publication-lists.ts";
import { findVoucher } from "../store/vouchers.ts";

/** Publications are many, so more pages are listed than elsewhere. */
const MAX_PAGE = 1000;

export const listPublications =
  (deps: Deps): Handler<typeof PublicationService.method.listPublications> =>
  async (request, call) => {
    const page = pageFromProto(request, { maxPage: MAX_PAGE, overMaxPage: "page_over_limit" });
    const values: unknown[] = [call.project.id];
    const conditions = conditionsOf(request, call, values);
    if (request.voucher !== undefined) {
      const voucher = await findVoucher(deps.db, call.project.id, request.voucher);
      conditions.push(ofVoucher(`$${values.push(voucher?.definition.id ?? request.voucher)}`));
    }
    const { order: named = "-created_at" } = request;
    const descending = named.startsWith("-");
    const order = { by: descending ? named.slice(1) : named, descending };
    const { publications, total } = await list(deps.db, {
      projectId: call.project.id,
      conditions,
      values,
      order,
      page,
    });
    return {
      $typeName: "scrip.voucher.v1.ListPublicationsResponse",
      publications: await loadPublications(deps, publications, call),
      total,
    };
  };

/** SQL over `publication p`; the values of the request are in `values`. */
function conditionsOf(request: ListPublicationsRequest, call: Call, values: unknown[]): string[] {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const { campaign, customer, result, voucherType, sourceId, filters } = request;
  if (campaign !== undefined) {
    const name = bind(campaign);
    conditions.push(`(p.campaign_name = ${name} or p.campaign_id = ${name})`);
  }
  if (customer !== undefined) {
    const name = bind(customer);
    conditions.push(`(p.customer_id = ${name} or p.tracking_id = ${name})`);
  }
  if (result !== undefined) conditions.push(`p.result = ${bind(resultOf(result))}`);
  if (voucherType !== undefined) {
    conditions.push(`p.voucher_type = ${bind(requireVoucherType(voucherType))}`);
  }
  if (request.isReferralCode === true) conditions.push("p.is_referral_code");
  if (sourceId !== undefined) conditions.push(`p.source_id = ${bind(sourceId)}`);
  conditions.push(...timeRangeConditions("p.created_at", request.createdAt, values));
  conditions.push(filterCondition(filters, { fields: publicationFilters, call, values }));
  return conditions;
}

function requireVoucherType(name: string): string {
  const type = voucherTypeOf(name);
  if (VOUCHER_TYPES.includes(type)) return type;
  throw invalidQuery(`Property .voucher_type must be one of: ${VOUCHER_TYPES.join(", ")}`);
}

/** Case-insensitive, because other lists use another spelling. */
function resultOf(result: string): string {
  const known = result.toUpperCase();
  if (known === "SUCCESS" || known === "FAILURE") return known;
  throw invalidQuery("Property .result must be SUCCESS or FAILURE");
}

const invalidQuery = (details: string): ApiError =>
  new ApiError("invalid_query_params", { details });
