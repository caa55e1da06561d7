import { notFound } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { findTier, lockTier, type TierRecord, updateTier } from "../store/promotion-tiers.ts";

/** Edits a tier while nobody else does. An edit that answers the tier itself changes nothing. */
export async function editTier(
  deps: Deps,
  { projectId, tierId }: { readonly projectId: string; readonly tierId: string },
  edit: (tier: PromotionTier) => PromotionTier,
): Promise<TierRecord> {
  const record = await deps.definitions.write(projectId, async (tx) => {
    const locked = await lockTier(tx, projectId, tierId);
    if (locked === undefined) throw notFound("promotion_tier", tierId);
    const tier = edit(locked.tier);
    if (tier === locked.tier) return locked;
    await updateTier(tx, projectId, tier);
    return findTier(tx, projectId, tierId);
  });
  if (record === undefined) throw new Error("a tier that was held is gone");
  return record;
}

/** One that is already so stays untouched. */
export const switched =
  (active: boolean, now: number) =>
  (tier: PromotionTier): PromotionTier =>
    tier.active === active ? tier : { ...tier, active, updatedAt: now };
