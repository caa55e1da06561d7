import { type Decimal, roundHalfUp } from "@scrip/money";

import type { Benefit } from "../decision/decision.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type {
  AssignedReward,
  ChosenReward,
  CustomerFacts,
  VoucherFacts,
  VoucherValue,
} from "../input/facts.ts";
import { atLeastZero, least } from "../order/minor-units.ts";
import { discountOrder } from "../order/order-draft.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";
import { type Refused, refusedForCode, resourceNotFound } from "../rejections/rejection.ts";

export type CardValue = Extract<VoucherValue, { readonly type: "LOYALTY_CARD" }>;

export type LoyaltyOutcome =
  | {
      readonly kind: "spent";
      readonly benefit: Benefit & { readonly kind: "loyalty" };
      readonly state: OrderState;
      readonly allocations: readonly Allocation[];
    }
  | { readonly kind: "refused"; readonly refusal: Refused };

export type PointsSpending = {
  readonly voucher: VoucherFacts;
  readonly value: CardValue;
  readonly reward: ChosenReward | null;
  readonly customer: CustomerFacts | null;
  readonly hasOrder: boolean;
};

/**
 * Redeems a loyalty card for the reward that was chosen (spec/validation-and-redemption.md §8.5): points
 * pay for the order, or are the price of something that is handed out.
 */
export function spendCard(spending: PointsSpending, state: OrderState): LoyaltyOutcome {
  const { voucher, reward, customer } = spending;
  if (reward === null) return refused(missingReward);
  const { assigned } = reward;
  if (assigned === null) return refused(resourceNotFound("reward", reward.id));
  if (voucher.holderId === null || customer?.id !== voucher.holderId) {
    return refused(notTheHolder(voucher.code));
  }
  switch (assigned.type) {
    case "COIN":
      return payWithPoints(spending, assigned, state);
    case "MATERIAL":
      return payPrice(spending, assigned, state);
    case "CAMPAIGN":
      return refused(notHandedOut(reward.id));
    default:
      return assigned.type satisfies never;
  }
}

/** What sessions of others do not hold. */
export const freePoints = ({ balance, lockedPoints }: CardValue): bigint =>
  atLeastZero(balance - lockedPoints);

/**
 * Points come in blocks, each of which is worth `exchangeRatio`. Points that were named need not fill
 * their last block, but what the order does not need is never taken.
 */
function payWithPoints(
  { voucher, value, reward, hasOrder }: PointsSpending,
  { coin }: AssignedReward,
  state: OrderState,
): LoyaltyOutcome {
  if (coin === null) throw new Error(`reward ${reward?.id} has no ratio`);
  if (!hasOrder) return refused(missingOrder);
  if (!state.hasAmount) return refused(missingAmount);
  const { exchangeRatio, pointsRatio } = coin;
  const left = totalAmount(state);
  const free = freePoints(value);
  const asked = reward?.points ?? null;
  if (asked !== null && asked > free) return refused(tooManyPoints(voucher.code));
  const needed = blocksFor(left, exchangeRatio) * pointsRatio;
  const points = least(needed, asked ?? (free / pointsRatio) * pointsRatio);
  if (points === 0n && asked === null && left > 0n) return refused(tooManyPoints(voucher.code));
  const amount = least(worthOf(points, { exchangeRatio, pointsRatio }), left);
  if (amount <= 0n) return refused(worthNothing);
  return {
    kind: "spent",
    benefit: benefitOf(value, points, "APPLY_TO_ORDER"),
    state: discountOrder(state, amount),
    allocations: [{ orderItemIndex: null, amount, quantity: null }],
  };
}

/** In minor units, rounded half up once. */
const worthOf = (
  points: bigint,
  { exchangeRatio, pointsRatio }: NonNullable<AssignedReward["coin"]>,
): bigint =>
  roundHalfUp(
    points * exchangeRatio.unscaled * 100n,
    pointsRatio * 10n ** BigInt(exchangeRatio.scale),
  );

/** How many blocks an amount of minor units needs; the last one may be worth more than is left. */
function blocksFor(amount: bigint, { unscaled, scale }: Decimal): bigint {
  const worth = unscaled * 100n;
  return (amount * 10n ** BigInt(scale) + worth - 1n) / worth;
}

/** Something that is handed out costs its price, and takes nothing off the order. */
function payPrice(
  { voucher, value }: PointsSpending,
  { price, stockLeft }: AssignedReward,
  state: OrderState,
): LoyaltyOutcome {
  if (price === null) throw new Error("a reward without its price");
  if (stockLeft !== null && stockLeft <= 0n) return refused(outOfStock(voucher.code));
  if (price > freePoints(value)) return refused(tooManyPoints(voucher.code));
  return { kind: "spent", benefit: benefitOf(value, price, null), state, allocations: [] };
}

const benefitOf = (
  { balance, lockedPoints }: CardValue,
  points: bigint,
  effect: "APPLY_TO_ORDER" | null,
): Benefit & { readonly kind: "loyalty" } => ({
  kind: "loyalty",
  effect,
  balance,
  points,
  lockedPoints,
});

const refused = (refusal: Refused): LoyaltyOutcome => ({ kind: "refused", refusal });

const tooManyPoints = (code: string): Refused =>
  refusedForCode("loyalty_card_points_exceeded", code);

const outOfStock = (code: string): Refused => refusedForCode("reward_out_of_stock", code);

const notTheHolder = (code: string): Refused => ({
  key: "invalid_customer",
  message: "Customer must be a holder of a loyalty card.",
  details: code,
});

const notHandedOut = (rewardId: string): Refused => ({
  key: "reward_not_supported",
  details: `Reward ${rewardId} issues vouchers of a campaign, which is not supported yet`,
});

const missingReward: Refused = {
  key: "missing_reward",
  details: "A reward is required when redeeming a LOYALTY_CARD",
};

const missingOrder: Refused = {
  key: "missing_order",
  details: "An order is required when paying with points of a LOYALTY_CARD",
};

const missingAmount: Refused = {
  key: "missing_amount",
  details: "An order amount is required when paying with points of a LOYALTY_CARD",
};

const worthNothing: Refused = {
  key: "invalid_amount",
  details: "The points would not take anything off the order",
};
