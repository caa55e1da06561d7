import type { Origin } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import {
  findCanceledOrders,
  insertCanceledOrders,
  lockOrders,
  type OrderRef,
} from "../store/canceled-orders.ts";
import { lockCards } from "../store/cards.ts";
import { findPendingOfOrders } from "../store/pending-points.ts";
import { cancelEntries } from "./change-pending.ts";

/** An order that was canceled after its payment, and the request that canceled it. */
export type Cancellation = OrderRef & {
  readonly at: number;
  readonly origin: Origin | undefined;
};

/**
 * Cancels the pending points of canceled orders, and of accruals of these orders that come later. Active points stay.
 * Repeatable.
 */
export async function cancelPendingOfOrders(
  tx: Queryable,
  deps: Pick<Deps, "newId">,
  cancellations: readonly Cancellation[],
): Promise<void> {
  await lockOrders(tx, cancellations);
  await insertCanceledOrders(tx, cancellations);
  const cards = await lockCards(tx, await findPendingOfOrders(tx, cancellations));
  if (cards.size === 0) return;
  const cancellationOf = new Map(
    cancellations.map((one) => [keyOf(one.projectId, one.orderId), one]),
  );
  // After the lock of the cards, which orders all changes of their entries.
  const entries = (await findPendingOfOrders(tx, cancellations)).flatMap((entry) => {
    const cancellation = cancellationOf.get(keyOf(entry.projectId, entry.orderId ?? ""));
    if (cancellation === undefined) return [];
    return [{ entry, at: cancellation.at, origin: cancellation.origin }];
  });
  await cancelEntries(tx, deps, entries, [...cards.values()]);
}

/** A grant of points for a paid order. */
type OrderGrant = {
  readonly trigger: { readonly projectId: string; readonly causeId: string };
};

/** The grants whose orders were not canceled; locks the orders. */
export async function withoutCanceledOrders<Granted extends OrderGrant>(
  tx: Queryable,
  grants: readonly Granted[],
): Promise<readonly Granted[]> {
  if (grants.length === 0) return [];
  const orders = grants.map(({ trigger: { projectId, causeId: orderId } }) => ({
    projectId,
    orderId,
  }));
  await lockOrders(tx, orders);
  const canceled = await findCanceledOrders(tx, orders);
  return grants.filter(({ trigger }) => !canceled.has(keyOf(trigger.projectId, trigger.causeId)));
}
