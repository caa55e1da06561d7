import { type DeliveredEvent, type EventHandler, inboxHandler, eventMessage } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import {
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import {
  addTierUsages,
  holdTiersOfAll,
  type TierRef,
  type TierUsage,
} from "../store/promotion-tier-usage.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

type Change = TierRef & TierUsage;

/**
 * Counts what promotion tiers did, for their summaries: redemptions that stand, each once, however
 * often its event comes. A redemption of a voucher costs nothing here, and a tier that was deleted
 * leaves no trace.
 */
export const onRedemption = (db: Database): EventHandler =>
  inboxHandler(db, { consumer: "tier-usage", read: changeBy, work: count });

async function count(tx: Queryable, changes: readonly Change[]): Promise<void> {
  const sums = new Map<string, Change>();
  for (const change of changes) {
    const name = nameOf(change);
    sums.set(name, sumOf(sums.get(name), change));
  }
  const held = await holdTiersOfAll(tx, [...sums.values()]);
  const left = held.flatMap((tier) => sums.get(nameOf(tier)) ?? []);
  if (left.length > 0) await addTierUsages(tx, left);
}

/** What an event adds to a tier, or takes off it again. Most are of vouchers, which their keys tell. */
function changeBy(event: DeliveredEvent): Change | undefined {
  if (!event.key.startsWith("promo_")) return undefined;
  const made = eventMessage(event, RedemptionMadeSchema);
  if (made !== undefined) {
    const { projectId, promotionTierId: tierId, orderAmount, discountedAmount } = made;
    if (tierId === undefined) return undefined;
    return { projectId, tierId, redemptions: 1n, ordersAmount: orderAmount, discountedAmount };
  }
  const back = eventMessage(event, RedemptionRolledBackSchema);
  if (back !== undefined) {
    const { projectId, promotionTierId: tierId, orderAmount, discountedAmount } = back;
    if (tierId === undefined || back.rejected) return undefined;
    return {
      projectId,
      tierId,
      redemptions: -1n,
      ordersAmount: -orderAmount,
      discountedAmount: -discountedAmount,
    };
  }
  return undefined;
}

const sumOf = (before: Change | undefined, change: Change): Change => ({
  ...change,
  redemptions: (before?.redemptions ?? 0n) + change.redemptions,
  ordersAmount: (before?.ordersAmount ?? 0n) + change.ordersAmount,
  discountedAmount: (before?.discountedAmount ?? 0n) + change.discountedAmount,
});

const nameOf = ({ projectId, tierId }: TierRef): string => JSON.stringify([projectId, tierId]);
