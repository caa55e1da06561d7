import { mappedPrice, mappedRatio, type Tier } from "../domain/tiers/tier.ts";
import type { AssignmentRow } from "../store/reward-assignments.ts";
import type { RewardRow } from "../store/rewards.ts";

export type PricedReward = { readonly assignment: AssignmentRow; readonly reward: RewardRow };

/** A reward at the price of the holder's tier; null: the tier excludes it. */
export function priceInTier(
  { assignment, reward }: PricedReward,
  tier: Tier | null,
): PricedReward | null {
  const mapping = tier?.rewards.get(assignment.id);
  const { coin } = reward.parameters;
  if (coin !== undefined) {
    const ratio = mappedRatio(BigInt(coin.points_ratio), mapping);
    if (ratio === null) return null;
    const parameters = { ...reward.parameters, coin: { ...coin, points_ratio: `${ratio}` } };
    return { assignment, reward: { ...reward, parameters } };
  }
  const points = assignment.points === null ? null : mappedPrice(assignment.points, mapping);
  return mapping?.type === "NOT_AVAILABLE"
    ? null
    : { assignment: { ...assignment, points }, reward };
}

/** The fewest points that the reward costs: its price, or one block of a COIN reward. */
export const pointsNeeded = ({ assignment, reward }: PricedReward): bigint =>
  assignment.points ?? BigInt(reward.parameters.coin?.points_ratio ?? 0);
