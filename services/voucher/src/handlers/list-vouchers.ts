import { ApiError } from "@scrip/errors";
import {
  filterCondition,
  type FilterFields,
  operandsIn,
  timeRangeConditions,
} from "@scrip/filters";
import type {
  ListVouchersRequest,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { codeKeyOf } from "../domain/voucher.ts";
import { withCurrentBalances } from "../loading/card-balances.ts";
import { findCustomer } from "../loading/customers.ts";
import { pageFromProto } from "../mapping/page.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { findCampaign } from "../store/campaigns.ts";
import { findCodeRanges } from "../store/code-ranges.ts";
import { voucherFilters, voucherFiltersWith } from "../store/voucher-filters.ts";
import { listVouchers as list, type VoucherOrder } from "../store/voucher-lists.ts";

const MAX_PAGE = 99;

export const listVouchers =
  (deps: Deps): Handler<typeof VoucherService.method.listVouchers> =>
  async (request, call) => {
    const page = pageFromProto(request, { maxPage: MAX_PAGE, overMaxPage: "invalid_query_params" });
    if (call.caller.side === "client" && request.customer === undefined) {
      throw invalidQuery("Property .customer is required");
    }
    const values: unknown[] = [call.project.id];
    const campaign =
      request.campaign === undefined
        ? undefined
        : await findCampaign(deps.db, call.project.id, request.campaign);
    const conditions = conditionsOf(request, call, { values, campaignId: campaign?.id });
    const fields = await fieldsFor(deps, request, call);
    conditions.push(filterCondition(request.filters, { fields, call, values }));
    if (request.customer !== undefined) {
      const holder = await findCustomer(deps, request.customer, call);
      conditions.push(`v.holder_id = $${values.push(holder?.id ?? request.customer)}`);
    }
    const { vouchers, total } = await list(deps.db, {
      projectId: call.project.id,
      conditions,
      values,
      order: orderOf(request.order),
      page,
    });
    return {
      $typeName: "scrip.voucher.v1.ListVouchersResponse",
      vouchers: [
        ...(await withCurrentBalances(
          deps,
          vouchers.map((voucher) => voucherToProto(voucher)),
          call,
          request.asOf,
        )),
      ],
      total,
    };
  };

/** SQL over `voucher v` and `voucher_usage u`; the values of the request are in `values`. */
function conditionsOf(
  request: ListVouchersRequest,
  call: Call,
  { values, campaignId }: { readonly values: unknown[]; readonly campaignId: string | undefined },
): string[] {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (request.code !== undefined) {
    const key = codeKeyOf(request.code, call.project.caseSensitiveCodes);
    conditions.push(`v.code_key = ${bind(key)}`);
  }
  if (request.campaignId !== undefined) {
    conditions.push(`v.campaign_id = ${bind(request.campaignId)}`);
  }
  if (request.categoryId !== undefined) {
    conditions.push(`v.category_id = ${bind(request.categoryId)}`);
  }
  if (campaignId !== undefined) {
    // By its id, which has an index in the order of the list.
    conditions.push(`v.campaign_id = ${bind(campaignId)}`);
  } else if (request.campaign !== undefined) {
    const campaign = bind(request.campaign);
    const isNamed = `v.campaign_name = ${campaign}`;
    // A name reads one index only.
    const canBeId = request.campaign.startsWith("camp_");
    conditions.push(canBeId ? `(${isNamed} or v.campaign_id = ${campaign})` : isNamed);
  }
  if (request.category !== undefined) {
    throw invalidQuery(
      "Filter by .category_id: the names of categories are not stored with vouchers",
    );
  }
  if (request.ids.length > 0) conditions.push(idCondition(request.ids, call, bind));
  conditions.push(
    ...timeRangeConditions("v.created_at", request.createdAt, values),
    ...timeRangeConditions("v.updated_at", request.updatedAt, values),
  );
  return conditions;
}

/** Looking up more beginnings takes longer than comparing all codes. */
const MAX_BEGINNINGS = 4;

/** The fields of the filters; where the index of codes sorts by bytes, with the ranges of codes that begin with an operand. */
async function fieldsFor(
  { db, codesSortByBytes }: Deps,
  { filters }: ListVouchersRequest,
  { project }: Call,
): Promise<FilterFields> {
  const beginnings = codesSortByBytes ? operandsIn(filters, "code", "$starts_with") : [];
  if (beginnings.length === 0 || beginnings.length > MAX_BEGINNINGS) return voucherFilters;
  const found = await Promise.all(
    beginnings.map(async (text) => {
      const ranges = await findCodeRanges(db, project.id, text);
      return ranges === undefined ? [] : [[text, ranges] as const];
    }),
  );
  return voucherFiltersWith(new Map(found.flat()));
}

const MAX_IDS = 100;

/** Codes and ids; one parameter can hold several: `a,b`, `["a","b"]` or `['a', 'b']`. */
function idCondition(
  parameters: readonly string[],
  { project }: Call,
  bind: (value: unknown) => string,
): string {
  const ids = parameters.flatMap(splitIds);
  if (ids.length > MAX_IDS) {
    throw invalidQuery(`Property .ids must NOT have more than ${MAX_IDS} items`);
  }
  const keys = ids.map((id) => codeKeyOf(id, project.caseSensitiveCodes));
  return `(v.id = any (${bind(ids)}::text[]) or v.code_key = any (${bind(keys)}::text[]))`;
}

/** Clients that write a list as one value send it as JSON, or with the quotes of their language. */
function splitIds(parameter: string): string[] {
  const quoted = /^\[\s*(?<quote>["'])(?<items>.*)\k<quote>\s*\]$/s.exec(parameter)?.groups;
  if (quoted === undefined) return parameter.split(",").map((id) => id.trim());
  const { quote, items = "" } = quoted;
  return items.split(new RegExp(`${quote}\\s*,\\s*${quote}`));
}

const invalidQuery = (details: string): ApiError =>
  new ApiError("invalid_query_params", { details });

/** A column of the contract's list, with a leading `-` for descending order. Default: newest first. */
function orderOf(order = "-created_at"): VoucherOrder {
  const descending = order.startsWith("-");
  return { by: descending ? order.slice(1) : order, descending };
}
