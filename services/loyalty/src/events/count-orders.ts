import type { Queryable } from "@scrip/postgres";
import { type Order, OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";

import { type CountedOrder, type CustomerRef, holdCustomers, putOrders } from "../store/counts.ts";

/** An order as an event tells of it. */
export type ToldOrder = {
  readonly projectId: string;
  readonly order: Order;
  readonly at: Date;
  /** Who buys, where the order does not say. */
  readonly customerId?: string | undefined;
};

/** The newest state of each order that is paid and somebody's. */
export const paidOrders = (told: readonly ToldOrder[]): readonly CountedOrder[] =>
  newestOf(told)
    .filter(({ status }) => isPaid(status))
    .map(({ counted }) => counted);

/** Orders that were somebody's and are paid no more, such as those that were rolled back. */
export const unpaidOrders = (told: readonly ToldOrder[]): readonly CountedOrder[] =>
  newestOf(told)
    .filter(({ status }) => !isPaid(status))
    .map(({ counted }) => counted);

type Newest = { readonly counted: CountedOrder; readonly status: OrderStatus | undefined };

function newestOf(told: readonly ToldOrder[]): readonly Newest[] {
  const newest = new Map<string, Newest>();
  for (const { projectId, order, at, customerId: buyer } of told) {
    const customerId = order.customerId ?? buyer;
    if (order.id === undefined || customerId === undefined) continue;
    const key = JSON.stringify([projectId, order.id]);
    const before = newest.get(key);
    if (before !== undefined && before.counted.at > at) continue;
    const counted = { projectId, customerId, orderId: order.id, amount: order.amount, at };
    newest.set(key, { counted, status: order.status });
  }
  return [...newest.values()];
}

const isPaid = (status: OrderStatus | undefined): boolean =>
  status === OrderStatus.PAID || status === OrderStatus.FULFILLED;

/**
 * Keeps the customers of a transaction from being deleted, and answers what is left of `counted`
 * without those who are gone.
 */
export async function ofHeldCustomers(
  tx: Queryable,
  customers: readonly CustomerRef[],
): Promise<<Counted extends CustomerRef>(counted: readonly Counted[]) => readonly Counted[]> {
  const held = new Set((await holdCustomers(tx, customers)).map(textOf));
  return (counted) => counted.filter((each) => held.has(textOf(each)));
}

/** An order is kept in its newest state, so a repeat changes nothing and no inbox is needed. */
export async function countOrders(tx: Queryable, orders: readonly CountedOrder[]): Promise<void> {
  const left = (await ofHeldCustomers(tx, orders))(orders);
  if (left.length > 0) await putOrders(tx, left);
}

export const textOf = ({ projectId, customerId }: CustomerRef): string =>
  JSON.stringify([projectId, customerId]);
