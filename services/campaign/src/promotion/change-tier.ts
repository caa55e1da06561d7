import { notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { findTier, lockTier, type TierRecord, updateTier } from "../store/promotion-tiers.ts";

/** Changes a tier under its row lock. A change that returns the same object writes nothing. */
export async function changeTier(
  deps: Deps,
  { projectId, tierId }: { readonly projectId: string; readonly tierId: string },
  change: (tier: PromotionTier) => PromotionTier,
): Promise<TierRecord> {
  const record = await deps.definitions.write(projectId, async (tx) => {
    const locked = await lockTier(tx, projectId, tierId);
    if (locked === undefined) throw notFound("promotion_tier", tierId);
    const tier = change(locked.tier);
    if (tier === locked.tier) return locked;
    await updateTier(tx, projectId, tier);
    return findTier(tx, projectId, tierId);
  });
  if (record === undefined) throw new Error(`promotion tier ${tierId} was locked, but is missing`);
  return record;
}

/** Idempotent: a tier that already has the status stays unchanged. */
export const setTierActive =
  (active: boolean, now: number) =>
  (tier: PromotionTier): PromotionTier =>
    tier.active === active ? tier : { ...tier, active, updatedAt: now };
