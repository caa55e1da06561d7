import type { EvaluatedRedeemable } from "../decision/decision.ts";
import type { Redeemable } from "../input/redeemable.ts";

/**
 * A card as those before it in the request leave it: several that are redeemed for the same reward take from
 * one stock, which the points are held for together.
 */
export function withRemainingStock(
  redeemable: Redeemable,
  before: readonly EvaluatedRedeemable[],
): Redeemable {
  if (redeemable.object !== "voucher") return redeemable;
  const { reward } = redeemable;
  const assigned = reward?.assignment ?? null;
  if (reward === null || assigned === null || assigned.stockLeft === null) return redeemable;
  const taken = before.filter(
    (one) => one.status === "APPLICABLE" && requestedRewardId(one.redeemable) === reward.id,
  ).length;
  if (taken === 0) return redeemable;
  const stockLeft = assigned.stockLeft - BigInt(taken);
  return { ...redeemable, reward: { ...reward, assignment: { ...assigned, stockLeft } } };
}

const requestedRewardId = (redeemable: Redeemable): string | null =>
  redeemable.object === "voucher" ? (redeemable.reward?.id ?? null) : null;
