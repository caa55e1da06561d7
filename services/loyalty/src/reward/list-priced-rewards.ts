import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import { type AssignmentListing, listAssignments } from "../store/reward-assignments.ts";
import { findRewards } from "../store/rewards.ts";
import { type PricedReward, priceInTier } from "./tier-price.ts";

export type PricedListing = AssignmentListing & {
  readonly tier: Tier | null;
  /** Default: rewards at any price. */
  readonly isListed?: ((reward: PricedReward) => boolean) | undefined;
};

type PricedPage = { readonly rewards: readonly PricedReward[]; readonly total: bigint };

/**
 * A page of the rewards of a program at the prices of a tier, and the number of rewards on all pages. Rewards that the
 * tier excludes or `isListed` rejects are on no page.
 */
export async function listPricedRewards(
  { db }: Pick<Deps, "db">,
  { tier, isListed, ...listing }: PricedListing,
): Promise<PricedPage> {
  if (isListed === undefined && !hasExclusions(tier)) return readPriced(db, tier, listing);
  const { limit, offset } = listing;
  const all = await readAllPriced(db, tier, listing);
  const listed = isListed === undefined ? all : all.filter(isListed);
  return { rewards: listed.slice(offset, offset + limit), total: BigInt(listed.length) };
}

const hasExclusions = (tier: Tier | null): boolean =>
  [...(tier?.rewards.values() ?? [])].some(({ type }) => type === "NOT_AVAILABLE");

/** Assignments per statement. */
const SLICE = 1_000;

/** Prices depend on the tier, so they are compared here. Programs have few rewards. */
async function readAllPriced(
  db: Deps["db"],
  tier: Tier | null,
  listing: AssignmentListing,
): Promise<readonly PricedReward[]> {
  const all: PricedReward[] = [];
  for (let offset = 0; ; offset += SLICE) {
    const { rewards, total } = await readPriced(db, tier, { ...listing, limit: SLICE, offset });
    all.push(...rewards);
    if (offset + SLICE >= total) return all;
  }
}

/** A page before exclusions; its total includes the excluded rewards. */
async function readPriced(
  db: Deps["db"],
  tier: Tier | null,
  listing: AssignmentListing,
): Promise<PricedPage> {
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
