import { create } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { timeRangeConditions } from "@scrip/filters";
import { parsePage } from "@scrip/postgres";
import {
  type CustomerService,
  type ListCustomersRequest,
  ListCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";

import { describeCustomers } from "../customer/describe-customers.ts";
import type { Deps } from "../deps.ts";
import { segmentCondition } from "../segment/segment-condition.ts";
import { type CustomerSortOrder, listProfiles } from "../store/customer-profiles.ts";

export const listCustomers =
  (deps: Deps): Handler<typeof CustomerService.method.listCustomers> =>
  async (request, { project, now }) => {
    const order = parseOrder(request.order);
    if (request.startingAfter !== undefined && order.by === "source_id") {
      throw new ApiError("invalid_query_params", {
        details: "Property .starting_after is a time: .order must be by created_at or updated_at",
      });
    }
    const values: unknown[] = [project.id];
    const conditions = fieldConditions(request, values);
    if (request.segmentId !== undefined) {
      const { segmentId } = request;
      const time = timeContextOf({ now, project });
      conditions.push(
        await segmentCondition(deps.db, { projectId: project.id, segmentId }, { time, values }),
      );
    }
    const { customers, ...rest } = await listProfiles(deps.db, {
      projectId: project.id,
      conditions,
      values,
      order,
      startingAfter: request.startingAfter,
      page: parsePage(request),
    });
    return create(ListCustomersResponseSchema, {
      customers: await describeCustomers(deps, project.id, customers),
      ...rest,
    });
  };

/** SQL conditions over `customer`; parameters are added to `values`. */
function fieldConditions(request: ListCustomersRequest, values: unknown[]): string[] {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  for (const field of ["email", "city", "name"] as const) {
    if (request[field] !== undefined) conditions.push(`${field} = ${bind(request[field])}`);
  }
  return [
    ...conditions,
    ...timeRangeConditions("created_at", request.createdAt, values),
    ...timeRangeConditions("updated_at", request.updatedAt, values),
  ];
}

/** The contract checks the column; `-` in front is descending. */
function parseOrder(order = "-created_at"): CustomerSortOrder {
  const descending = order.startsWith("-");
  return { by: (descending ? order.slice(1) : order) as CustomerSortOrder["by"], descending };
}
