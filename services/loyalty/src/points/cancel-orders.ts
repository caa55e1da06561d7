import type { Origin } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import {
  type CanceledOrder,
  findCanceledOrders,
  insertCanceledOrders,
  lockOrders,
} from "../store/canceled-orders.ts";
import { lockCards } from "../store/cards.ts";
import { findPendingOfOrders } from "../store/pending-points.ts";
import { cancelEntries } from "./change-pending.ts";

/** A cancellation, and the request that caused it. */
export type Cancellation = CanceledOrder & { readonly origin: Origin | undefined };

/**
 * Cancels the pending points of canceled orders, and of accruals of these orders that come later. Active points stay. A
 * repeated cancellation changes nothing. Each order occurs once.
 */
export async function cancelPendingOfOrders(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  cancellations: readonly Cancellation[],
): Promise<void> {
  await lockOrders(tx, cancellations);
  const added = await insertCanceledOrders(tx, cancellations);
  const orders = cancellations.filter(({ projectId, orderId }) =>
    added.has(keyOf(projectId, orderId)),
  );
  const cards = await lockCards(tx, await findPendingOfOrders(tx, orders));
  if (cards.size === 0) return;
  const cancellationOf = new Map(orders.map((one) => [keyOf(one.projectId, one.orderId), one]));
  // After the lock of the cards, which orders all changes of their entries.
  const entries = (await findPendingOfOrders(tx, orders)).flatMap((entry) => {
    const cancellation = cancellationOf.get(keyOf(entry.projectId, entry.orderId ?? ""));
    if (cancellation === undefined) return [];
    return [{ entry, at: cancellation.canceledAt, origin: cancellation.origin }];
  });
  await cancelEntries(tx, deps, entries, [...cards.values()]);
}

/** A grant of pending points that an order may have caused. */
type OrderGrant = {
  readonly trigger: {
    readonly projectId: string;
    readonly at: number;
    readonly order: { readonly id: string | null } | null;
  };
};

/** The grants whose order has not been canceled since its payment; their orders are locked. */
export async function withoutCanceledOrders<Granted extends OrderGrant>(
  tx: Queryable,
  grants: readonly Granted[],
): Promise<readonly Granted[]> {
  const orderOf = ({ trigger: { projectId, order } }: Granted) => ({
    projectId,
    orderId: order?.id ?? "",
  });
  const orders = grants.map(orderOf);
  if (orders.length === 0) return [];
  await lockOrders(tx, orders);
  const canceled = await findCanceledOrders(tx, orders);
  return grants.filter((one) => {
    const { projectId, orderId } = orderOf(one);
    const canceledAt = canceled.get(keyOf(projectId, orderId));
    return canceledAt === undefined || canceledAt < one.trigger.at;
  });
}
