import { ApiError } from "@scrip/errors";
import { filterCondition, timeRangeConditions } from "@scrip/filters";
import type {
  ListRedemptionsRequest,
  RedemptionService,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findCustomer } from "../loading/customers.ts";
import { loadEntries } from "../loading/redemptions.ts";
import { pageFromProto } from "../mapping/page.ts";
import {
  isOfCampaign,
  isOfCustomer,
  listRedemptionEntries,
  newestCampaignNamed,
  redemptionFilters,
} from "../store/redemption-lists.ts";

/** Redemptions are many, so more pages are listed than elsewhere. */
const MAX_PAGE = 1000;

/** Lists redemptions, parent redemptions, their parts, failed redemptions and rollbacks. */
export const listRedemptions =
  (deps: Deps): Handler<typeof RedemptionService.method.listRedemptions> =>
  async (request, call) => {
    const page = pageFromProto(request, { maxPage: MAX_PAGE, overMaxPage: "page_over_limit" });
    const values: unknown[] = [call.project.id];
    const conditions = await conditionsOf(deps, { request, call, values });
    const { order: named = "-created_at" } = request;
    const descending = named.startsWith("-");
    const { entries, total } = await listRedemptionEntries(deps.db, {
      projectId: call.project.id,
      conditions,
      values,
      order: { by: descending ? named.slice(1) : named, descending },
      page,
    });
    return {
      $typeName: "scrip.voucher.v1.RedemptionList",
      redemptions: await loadEntries(deps.db, call.project.id, entries),
      total,
    };
  };

/** SQL over `e`; the values of the request are in `values`. */
async function conditionsOf(
  deps: Deps,
  {
    request,
    call,
    values,
  }: {
    readonly request: ListRedemptionsRequest;
    readonly call: Call;
    readonly values: unknown[];
  },
): Promise<string[]> {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const { createdAt, result, campaign, customer, filters } = request;
  if (result !== undefined) conditions.push(resultCondition(result, bind));
  if (campaign !== undefined) {
    conditions.push(isOfCampaign(newestCampaignNamed(bind(campaign))));
  }
  if (customer !== undefined) {
    // An id also matches a deleted customer.
    const isId = customer.startsWith("cust_");
    const found = isId ? undefined : await findCustomer(deps, customer, call);
    conditions.push(isOfCustomer(bind(found?.id ?? customer)));
  }
  conditions.push(...timeRangeConditions("e.created_at", createdAt, values));
  conditions.push(filterCondition(filters, { fields: redemptionFilters, call, values }));
  return conditions;
}

const INACTIVE = [
  "voucher_disabled",
  "voucher_expired",
  "voucher_not_active",
  "voucher_not_active_now",
  "promotion_inactive",
  "promotion_not_active_now",
];

/** `Success`, `Failure`, and `Failure-` with `NotExist`, `Inactive` or the key of an error. */
function resultCondition(result: string, bind: (value: unknown) => string): string {
  const [outcome = "", reason] = result.toLowerCase().split("-", 2);
  if (outcome === "success" && reason === undefined) return "e.status <> 'FAILED'";
  if (outcome === "failure") {
    if (reason === undefined) return "e.status = 'FAILED'";
    const keys = reason === "inactive" ? INACTIVE : [reason === "notexist" ? "not_found" : reason];
    return `e.failure_code = any (${bind(keys)}::text[])`;
  }
  throw invalidQuery("Property .result must be Success, Failure or Failure-<reason>");
}

const invalidQuery = (details: string): ApiError =>
  new ApiError("invalid_query_params", { details });
