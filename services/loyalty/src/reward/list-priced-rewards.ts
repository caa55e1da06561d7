import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import { type AssignmentListing, listAssignments } from "../store/reward-assignments.ts";
import { findRewards } from "../store/rewards.ts";
import { type PricedReward, priceInTier } from "./tier-price.ts";

/** A page of the rewards of a program at the prices of a tier, without those that the tier excludes. */
export async function listPricedRewards(
  { db }: Pick<Deps, "db">,
  { tier, ...listing }: AssignmentListing & { readonly tier: Tier | null },
): Promise<{ readonly rewards: readonly PricedReward[]; readonly total: bigint }> {
  const { projectId } = listing;
  const { rows, total } = await listAssignments(db, listing);
  const rewards = await findRewards(
    db,
    rows.map(({ reward_id: rewardId }) => ({ projectId, rewardId })),
  );
  const priced = rows.flatMap((assignment) => {
    const reward = rewards.get(keyOf(projectId, assignment.reward_id));
    return reward === undefined ? [] : (priceInTier({ assignment, reward }, tier) ?? []);
  });
  return { rewards: priced, total };
}
