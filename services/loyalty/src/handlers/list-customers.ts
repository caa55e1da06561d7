import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ApiError } from "@scrip/errors";
import { compileFilters, type TimeContext } from "@scrip/filters";
import { parsePage } from "@scrip/postgres";
import {
  type CustomerService,
  type ListCustomersRequest,
  ListCustomersResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { customerToProto } from "../mapping/customer.ts";
import { type CustomerSortOrder, listProfiles } from "../store/customer-profiles.ts";
import { customerFilters } from "../store/segment-filters.ts";
import { findSegment } from "../store/segments.ts";

export const listCustomers =
  (deps: Deps): Handler<typeof CustomerService.method.listCustomers> =>
  async (request, { project, now }) => {
    const order = parseOrder(request.order);
    if (request.startingAfter !== undefined && order.by === "source_id") {
      throw new ApiError("invalid_query_params", {
        details: "Property .starting_after is a time and needs an .order by time",
      });
    }
    const values: unknown[] = [project.id];
    const { customers, total } = await listProfiles(deps.db, {
      conditions: [
        ...fieldConditions(request, values),
        ...(await segmentConditions(deps, request, {
          projectId: project.id,
          moment: timeContextOf({ now, project }),
          values,
        })),
      ],
      values,
      order,
      startingAfter:
        request.startingAfter === undefined ? null : timestampDate(request.startingAfter),
      page: parsePage(request),
    });
    return create(ListCustomersResponseSchema, {
      customers: customers.map(customerToProto),
      total,
    });
  };

/** SQL over `customer`; whatever was sent is in `values`. */
function fieldConditions(request: ListCustomersRequest, values: unknown[]): string[] {
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  for (const field of ["email", "city", "name"] as const) {
    if (request[field] !== undefined) conditions.push(`${field} = ${bind(request[field])}`);
  }
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

/** Those who are in the segment now; nobody is in one that is not there. */
async function segmentConditions(
  deps: Deps,
  { segmentId }: ListCustomersRequest,
  context: { readonly projectId: string; readonly moment: TimeContext; readonly values: unknown[] },
): Promise<readonly string[]> {
  if (segmentId === undefined) return [];
  const { projectId, moment, values } = context;
  const segment = await findSegment(deps.db, projectId, segmentId);
  if (segment === undefined) return ["false"];
  if (segment.filter === null) {
    return [
      `id in (select customer_id from segment_customer
               where project_id = $1 and segment_id = $${values.push(segmentId)})`,
    ];
  }
  const compiled = compileFilters(segment.filter, { ...moment, fields: customerFilters, values });
  if (compiled.kind === "violation") {
    throw new Error(`segment ${segmentId} has no filter: ${compiled.text}`);
  }
  return [compiled.text];
}

/** A column of the contract's list, `-` in front for descending; newest first without one. */
function parseOrder(order = "-created_at"): CustomerSortOrder {
  const descending = order.startsWith("-");
  return { by: (descending ? order.slice(1) : order) as CustomerSortOrder["by"], descending };
}
