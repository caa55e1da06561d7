import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";

import { findOrder } from "../store/orders.ts";

/** By id, otherwise by source id. */
export async function requireOrder(db: Queryable, projectId: string, name: string): Promise<Order> {
  const order =
    (await findOrder(db, projectId, { column: "id", value: name })) ??
    (await findOrder(db, projectId, { column: "source_id", value: name }));
  if (order === undefined) throw notFound("order", name);
  return order;
}
