import type { Queryable } from "@scrip/postgres";
import { type Order, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import {
  type CountedOrder,
  type CustomerRef,
  shareLockCustomers,
  customerKey,
  upsertOrders,
} from "../store/customer-counts.ts";

/** The state of an order in an event. */
export type ReportedOrder = {
  readonly projectId: string;
  readonly order: Order;
  readonly at: Date;
  /** The customer of the event, for orders without one. */
  readonly customerId?: string | undefined;
};

/** The newest state of each order that has a customer. */
export function newestOrders(reported: readonly ReportedOrder[]): readonly CountedOrder[] {
  const newest = new Map<string, CountedOrder>();
  for (const { projectId, order, at, customerId: buyer } of reported) {
    const customerId = order.customerId ?? buyer;
    if (order.id === undefined || customerId === undefined) continue;
    const key = JSON.stringify([projectId, order.id]);
    const before = newest.get(key);
    if (before !== undefined && before.at > at) continue;
    const { id: orderId, amount } = order;
    newest.set(key, { projectId, customerId, orderId, amount, at, paid: isPaid(order.status) });
  }
  return [...newest.values()];
}

const isPaid = (status: OrderStatus | undefined): boolean =>
  status === OrderStatus.PAID || status === OrderStatus.FULFILLED;

/**
 * Prevents the deletion of customers until the transaction ends, and returns a filter that drops the items
 * of customers who are deleted already.
 */
export async function lockExistingCustomers(
  tx: Queryable,
  customers: readonly CustomerRef[],
): Promise<<Counted extends CustomerRef>(counted: readonly Counted[]) => readonly Counted[]> {
  const held = new Set((await shareLockCustomers(tx, customers)).map(customerKey));
  return (counted) => counted.filter((each) => held.has(customerKey(each)));
}

/** The newest state of an order is stored, so repeats change nothing and need no inbox. */
export async function countOrders(tx: Queryable, orders: readonly CountedOrder[]): Promise<void> {
  const left = (await lockExistingCustomers(tx, orders))(orders);
  if (left.length > 0) await upsertOrders(tx, left, { unpaidWins: true });
}
