import { type DeliveredEvent, type EventHandler, inboxHandler, eventMessage } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import {
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import {
  addTierUsage,
  shareLockTiersOfProjects,
  type TierRef,
  type TierUsage,
} from "../store/promotion-tier-usage.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";

type UsageChange = TierRef & TierUsage;

/**
 * Counts redemptions less rollbacks of promotion tiers for their summaries, each exactly once although
 * events are delivered at least once. Events of vouchers and of deleted tiers are skipped.
 */
export const onRedemption = (db: Database): EventHandler =>
  inboxHandler(db, { consumer: "tier-usage", read: usageChangeOf, work: addUsageChanges });

async function addUsageChanges(tx: Queryable, changes: readonly UsageChange[]): Promise<void> {
  const sums = new Map<string, UsageChange>();
  for (const change of changes) {
    const name = tierKey(change);
    sums.set(name, addChanges(sums.get(name), change));
  }
  const held = await shareLockTiersOfProjects(tx, [...sums.values()]);
  const left = held.flatMap((tier) => sums.get(tierKey(tier)) ?? []);
  if (left.length > 0) await addTierUsage(tx, left);
}

/** The change of a tier's usage by an event. Most events concern vouchers, which the event key shows. */
function usageChangeOf(event: DeliveredEvent): UsageChange | undefined {
  if (!event.key.startsWith("promo_")) return undefined;
  const redemption = eventMessage(event, RedemptionMadeSchema);
  if (redemption !== undefined) {
    const { projectId, promotionTierId: tierId, orderAmount, discountedAmount } = redemption;
    if (tierId === undefined) return undefined;
    return { projectId, tierId, redemptions: 1n, ordersAmount: orderAmount, discountedAmount };
  }
  const rollback = eventMessage(event, RedemptionRolledBackSchema);
  if (rollback !== undefined) {
    const { projectId, promotionTierId: tierId, orderAmount, discountedAmount } = rollback;
    if (tierId === undefined || rollback.rejected) return undefined;
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

const addChanges = (before: UsageChange | undefined, change: UsageChange): UsageChange => ({
  ...change,
  redemptions: (before?.redemptions ?? 0n) + change.redemptions,
  ordersAmount: (before?.ordersAmount ?? 0n) + change.ordersAmount,
  discountedAmount: (before?.discountedAmount ?? 0n) + change.discountedAmount,
});

const tierKey = ({ projectId, tierId }: TierRef): string => JSON.stringify([projectId, tierId]);
