import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findOrder } from "../store/orders.ts";

export const getOrder =
  (deps: Deps): Handler<typeof OrderService.method.getOrder> =>
  (request, call) =>
    requireOrder(deps.db, call.project.id, request.orderId);

/** By its id or its source id; the id decides. */
export async function requireOrder(db: Queryable, projectId: string, name: string): Promise<Order> {
  const order =
    (await findOrder(db, projectId, { column: "id", value: name })) ??
    (await findOrder(db, projectId, { column: "source_id", value: name }));
  if (order === undefined) throw notFound("order", name);
  return order;
}
