import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Refusal } from "@scrip/errors";
import {
  type CustomerService,
  type ListCustomersRequest,
  ListCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type CustomerOrder, listProfiles } from "../store/profiles.ts";
import { toProfile } from "./customer-message.ts";

const DEFAULT_LIMIT = 10n;

export const listCustomers =
  (deps: Deps): Handler<typeof CustomerService.method.listCustomers> =>
  async (request, { project }) => {
    const order = orderOf(request.order);
    if (request.startingAfter !== undefined && order.by === "source_id") {
      throw new Refusal("invalid_query_params", {
        details: "Property .starting_after is a time and needs an .order by time",
      });
    }
    const limit = Number(request.limit ?? DEFAULT_LIMIT);
    const values: unknown[] = [project.id];
    const { customers, total } = await listProfiles(deps.db, {
      conditions: conditionsOf(request, values),
      values,
      order,
      startingAfter:
        request.startingAfter === undefined ? null : timestampDate(request.startingAfter),
      page: { limit, offset: (Number(request.page ?? 1n) - 1) * limit },
    });
    return create(ListCustomersResponseSchema, { customers: customers.map(toProfile), total });
  };

/** SQL over `customer`; whatever was sent is in `values`. */
function conditionsOf(request: ListCustomersRequest, values: unknown[]): string[] {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  for (const field of ["email", "city", "name"] as const) {
    if (request[field] !== undefined) conditions.push(`${field} = ${bind(request[field])}`);
  }
  if (request.segmentId !== undefined) conditions.push("false");
  for (const [column, range] of [
    ["created_at", request.createdAt],
    ["updated_at", request.updatedAt],
  ] as const) {
    if (range?.after !== undefined) {
      conditions.push(`${column} > ${bind(timestampDate(range.after))}::timestamptz`);
    }
    if (range?.before !== undefined) {
      conditions.push(`${column} < ${bind(timestampDate(range.before))}::timestamptz`);
    }
  }
  return conditions;
}

/** A column of the contract's list, `-` in front for descending; newest first without one. */
function orderOf(order = "-created_at"): CustomerOrder {
  const descending = order.startsWith("-");
  return { by: (descending ? order.slice(1) : order) as CustomerOrder["by"], descending };
}
