import { timeRangeConditions } from "@scrip/filters";
import type {
  ActivityService,
  ListCustomerActivitiesRequest,
} from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import type { Handler } from "@scrip/rpc";

import { listPage } from "../activity/list-page.ts";
import { requireCustomerId } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { ACTIONS } from "../domain/activity-types.ts";
import { findCardsOf } from "../store/loyalty-members.ts";

export const listCustomerActivities =
  (deps: Deps): Handler<typeof ActivityService.method.listCustomerActivities> =>
  async (request, { project }) => {
    const customerId = await requireCustomerId(deps.db, project.id, request.customerId);
    const cards = await findCardsOf(deps.db, project.id, customerId);
    const owners = [customerId, ...cards];
    const values: unknown[] = [project.id, owners];
    const conditions = conditionsOf(request, values);
    const owner = { projectId: project.id, owners, conditions, values: values.slice(2) };
    return listPage(deps.db, owner, request);
  };

/** The filters of a request; their values are appended. */
function conditionsOf(request: ListCustomerActivitiesRequest, values: unknown[]): string[] {
  const { startDate: from, endDate: until, category } = request;
  const equal = (sql: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${sql} = $${values.push(value)}`];
  return [
    ...timeRangeConditions("created_at", { ...request.createdAt, from, until }, values),
    ...equal("type", request.type),
    ...equal("campaign_id", request.campaignId),
    ...equal("campaign_type", request.campaignType),
    ...equal("reward_id", request.rewardId),
    ...(request.productId === undefined
      ? []
      : [`$${values.push(request.productId)} = any(product_ids)`]),
    ...(category === undefined
      ? []
      : [`(type = any($${values.push(ACTIONS)}::text[])) = ${category === "ACTION"}`]),
  ];
}
