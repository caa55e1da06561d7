import { changed, isReceived, publishReceived } from "@scrip/idempotency";
import type { Queryable } from "@scrip/postgres";
import { type Order, OrderSchema, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import { ORDERS_TOPIC } from "./order-paid.ts";

/**
 * Names of the changes of an order that a request publishes for webhooks. The payment is published as OrderPaid
 * instead.
 */
export const ORDER_NAMES = [
  "customer.order.created",
  "customer.order.updated",
  "customer.order.canceled",
  "customer.order.fulfilled",
];

/** Publishes an order that a request has created or updated, if webhooks of the project receive it. */
export async function publishOrder(
  tx: Queryable,
  call: Call,
  { before, order }: { readonly before: Order | null; readonly order: Order },
): Promise<void> {
  const names = [
    before === null ? "customer.order.created" : "customer.order.updated",
    ...(before?.status === order.status ? [] : statusNames(order)),
  ];
  if (!isReceived({ names }, call)) return;
  const change = { ...changed(OrderSchema, order), names };
  await publishReceived(tx, call, { topic: ORDERS_TOPIC, changes: [change] });
}

const statusNames = ({ status }: Order): readonly string[] => {
  if (status === OrderStatus.CANCELED) return ["customer.order.canceled"];
  return status === OrderStatus.FULFILLED ? ["customer.order.fulfilled"] : [];
};
