import type { Decimal } from "@scrip/money";

import type { CategorySnapshot, TierSnapshot, VoucherSnapshot } from "./voucher.ts";

/** A redeemable of the request, together with the voucher that was loaded for it. */
export type VoucherRedeemable = {
  readonly object: "voucher";
  /** The code or id of the request. */
  readonly id: string;
  /** null if it does not exist. */
  readonly voucher: VoucherSnapshot | null;
  /** `gift.credits` of the request. */
  readonly credits: bigint | null;
  /** `reward` of the request. */
  readonly reward: RequestedReward | null;
};

/** The reward for which a loyalty card is redeemed. */
export type RequestedReward = {
  readonly id: string;
  /** `reward.points` of the request. */
  readonly points: bigint | null;
  /** null if the card's campaign does not offer the reward. */
  readonly assignment: RewardAssignment | null;
};

export type RewardAssignment = {
  readonly assignmentId: string;
  readonly name: string | null;
  readonly type: "CAMPAIGN" | "MATERIAL" | "COIN";
  /** In points; null for a COIN reward. */
  readonly price: bigint | null;
  /** `pointsRatio` points are worth `exchangeRatio` major units. */
  readonly coin: { readonly exchangeRatio: Decimal; readonly pointsRatio: bigint } | null;
  /** null without a limit. */
  readonly stockLeft: bigint | null;
};

/**
 * Stacks are replaced by their tiers before the decision, so a remaining `promotion_stack` does not
 * exist.
 */
export type TierRedeemable = {
  readonly object: "promotion_tier" | "promotion_stack";
  readonly id: string;
  readonly tier: TierSnapshot | null;
};

export type Redeemable = VoucherRedeemable | TierRedeemable;

/** A redeemable before it is loaded. */
export type RedeemableReference = {
  readonly object: Redeemable["object"];
  readonly id: string;
};

/** Identifies a redeemable within its request. */
export const redeemableKey = ({ object, id }: RedeemableReference): string => `${object} ${id}`;

/** The categories of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategorySnapshot[] {
  const snapshot = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (snapshot === null) return [];
  const { categories, campaign } = snapshot;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
}
