import type { EvaluatedRedeemable } from "../decision/decision.ts";
import type { Redeemable } from "../input/redeemable.ts";

/**
 * Reduces the reward's stock by the cards before it in the request: cards redeemed for the same
 * reward share its stock. docs/gift-and-points.md#rewards
 */
export function withRemainingStock(
  redeemable: Redeemable,
  previous: readonly EvaluatedRedeemable[],
): Redeemable {
  if (redeemable.object !== "voucher") return redeemable;
  const { reward } = redeemable;
  const assignment = reward?.assignment ?? null;
  if (reward === null || assignment === null || assignment.stockLeft === null) return redeemable;
  const redeemed = previous.filter(
    (one) => one.status === "APPLICABLE" && requestedRewardId(one.redeemable) === reward.id,
  ).length;
  if (redeemed === 0) return redeemable;
  const stockLeft = assignment.stockLeft - BigInt(redeemed);
  return { ...redeemable, reward: { ...reward, assignment: { ...assignment, stockLeft } } };
}

const requestedRewardId = (redeemable: Redeemable): string | null =>
  redeemable.object === "voucher" ? (redeemable.reward?.id ?? null) : null;
