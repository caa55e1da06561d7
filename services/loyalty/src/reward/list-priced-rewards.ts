import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import {
  type AssignmentRow,
  listAssignments,
  listAssignmentsAfter,
} from "../store/reward-assignments.ts";
import { findRewards } from "../store/rewards.ts";
import { type PricedReward, priceInTier } from "./tier-price.ts";

export type PricedListing = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly tier: Tier | null;
  /** Default: rewards at any price. */
  readonly isListed?: ((reward: PricedReward) => boolean) | undefined;
  readonly limit: number;
  readonly offset: number;
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
  const { projectId } = listing;
  if (isListed !== undefined || hasExclusions(tier)) {
    return selectPriced(db, { tier, isListed: isListed ?? (() => true), ...listing });
  }
  const { rows, total } = await listAssignments(db, listing);
  return { rewards: await priced(db, { projectId, tier, rows }), total };
}

const hasExclusions = (tier: Tier | null): boolean =>
  [...(tier?.rewards.values() ?? [])].some(({ type }) => type === "NOT_AVAILABLE");

/** Assignments per statement. */
const SLICE = 1_000;

/** Prices depend on the tier, so they are compared here, slice by slice; only the page is retained. */
async function selectPriced(
  db: Deps["db"],
  {
    projectId,
    campaignId,
    tier,
    isListed,
    limit,
    offset,
  }: PricedListing & { readonly isListed: (reward: PricedReward) => boolean },
): Promise<PricedPage> {
  const rewards: PricedReward[] = [];
  let total = 0;
  let last: AssignmentRow | undefined;
  do {
    const rows = await listAssignmentsAfter(db, { projectId, campaignId, last, limit: SLICE });
    const listed = (await priced(db, { projectId, tier, rows })).filter(isListed);
    rewards.push(...listed.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
    total += listed.length;
    last = rows.length < SLICE ? undefined : rows.at(-1);
  } while (last !== undefined);
  return { rewards, total: BigInt(total) };
}

/** The rewards of assignments, without those that the tier excludes. */
async function priced(
  db: Deps["db"],
  {
    projectId,
    tier,
    rows,
  }: {
    readonly projectId: string;
    readonly tier: Tier | null;
    readonly rows: readonly AssignmentRow[];
  },
): Promise<readonly PricedReward[]> {
  const rewards = await findRewards(
    db,
    rows.map(({ reward_id: rewardId }) => ({ projectId, rewardId })),
  );
  return rows.flatMap((assignment) => {
    const reward = rewards.get(keyOf(projectId, assignment.reward_id));
    return reward === undefined ? [] : (priceInTier({ assignment, reward }, tier) ?? []);
  });
}
