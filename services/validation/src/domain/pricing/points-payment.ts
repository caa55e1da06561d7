import { type Decimal, roundHalfUp } from "@scrip/money";

import type { Benefit } from "../decision/benefit.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type { CustomerSnapshot } from "../input/customer.ts";
import type { RewardAssignment, RequestedReward } from "../input/redeemable.ts";
import type { VoucherSnapshot, VoucherValue } from "../input/voucher.ts";
import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { discountOrder } from "../order/order-draft.ts";
import { type OrderState, totalAmount } from "../order/order-state.ts";
import { type Rejection, rejectionForCode, resourceNotFound } from "../rejections/rejection.ts";

export type LoyaltyCardValue = Extract<VoucherValue, { readonly type: "LOYALTY_CARD" }>;

export type PointsOutcome =
  | {
      readonly kind: "spent";
      readonly benefit: Benefit & { readonly kind: "loyalty" };
      readonly state: OrderState;
      readonly allocations: readonly Allocation[];
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

export type LoyaltyCardRedemption = {
  readonly voucher: VoucherSnapshot;
  readonly value: LoyaltyCardValue;
  readonly reward: RequestedReward | null;
  readonly customer: CustomerSnapshot | null;
  readonly hasOrder: boolean;
};

/**
 * Redeems a loyalty card for the requested reward: points pay for the order, or are the price of a
 * product or voucher. docs/gift-and-points.md#loyalty-cards
 */
export function redeemLoyaltyCard(
  redemption: LoyaltyCardRedemption,
  state: OrderState,
): PointsOutcome {
  const { voucher, reward, customer } = redemption;
  if (reward === null) return rejected(missingReward);
  const { assignment } = reward;
  if (assignment === null) return rejected(resourceNotFound("reward_assignment", reward.id));
  if (voucher.holderId === null || customer?.id !== voucher.holderId) {
    return rejected(notCardHolder(voucher.code));
  }
  switch (assignment.type) {
    case "COIN":
      return payWithPoints(redemption, assignment, state);
    case "MATERIAL":
    case "CAMPAIGN":
      return payRewardPrice(redemption, assignment, state);
    default:
      return assignment.type satisfies never;
  }
}

/** Points that no other session has locked. */
export const availablePoints = ({ balance, lockedPoints }: LoyaltyCardValue): bigint =>
  atLeastZero(balance - lockedPoints);

/**
 * Points are used in blocks of `pointsRatio`, each worth `exchangeRatio`. Requested points need not
 * fill their last block, but points that the order does not need are never used.
 * docs/gift-and-points.md#rewards
 */
function payWithPoints(
  { voucher, value, reward, hasOrder }: LoyaltyCardRedemption,
  { coin }: RewardAssignment,
  state: OrderState,
): PointsOutcome {
  if (coin === null) throw new Error(`reward ${reward?.id} has no ratio`);
  if (!hasOrder) return rejected(missingOrder);
  if (!state.hasAmount) return rejected(missingAmount);
  const { exchangeRatio, pointsRatio } = coin;
  const left = totalAmount(state);
  const available = availablePoints(value);
  const requested = reward?.points ?? null;
  if (requested !== null && requested > available) return rejected(pointsExceeded(voucher.code));
  const required = blocksToCover(left, exchangeRatio) * pointsRatio;
  const points = smallestOf(required, requested ?? (available / pointsRatio) * pointsRatio);
  if (points === 0n && requested === null && left > 0n)
    return rejected(pointsExceeded(voucher.code));
  const amount = smallestOf(amountForPoints(points, { exchangeRatio, pointsRatio }), left);
  if (amount <= 0n) return rejected(noAmountForPoints);
  return {
    kind: "spent",
    benefit: loyaltyBenefit(value, points, "APPLY_TO_ORDER"),
    state: discountOrder(state, amount),
    allocations: [{ orderItemIndex: null, amount, quantity: null }],
  };
}

/** In minor units, rounded half up once. */
const amountForPoints = (
  points: bigint,
  { exchangeRatio, pointsRatio }: NonNullable<RewardAssignment["coin"]>,
): bigint =>
  roundHalfUp(
    points * exchangeRatio.unscaled * 100n,
    pointsRatio * 10n ** BigInt(exchangeRatio.scale),
  );

/** The blocks that cover an amount of minor units; the last one may be worth more than the rest. */
function blocksToCover(amount: bigint, { unscaled, scale }: Decimal): bigint {
  const worth = unscaled * 100n;
  return (amount * 10n ** BigInt(scale) + worth - 1n) / worth;
}

/** Products and vouchers cost their price in points and do not change the order. */
function payRewardPrice(
  { voucher, value }: LoyaltyCardRedemption,
  { price, stockLeft }: RewardAssignment,
  state: OrderState,
): PointsOutcome {
  if (price === null) throw new Error("a reward without its price");
  if (stockLeft !== null && stockLeft <= 0n) return rejected(outOfStock(voucher.code));
  if (price > availablePoints(value)) return rejected(pointsExceeded(voucher.code));
  return { kind: "spent", benefit: loyaltyBenefit(value, price, null), state, allocations: [] };
}

const loyaltyBenefit = (
  { balance, lockedPoints }: LoyaltyCardValue,
  points: bigint,
  effect: "APPLY_TO_ORDER" | null,
): Benefit & { readonly kind: "loyalty" } => ({
  kind: "loyalty",
  effect,
  balance,
  points,
  lockedPoints,
});

const rejected = (rejection: Rejection): PointsOutcome => ({ kind: "rejected", rejection });

const pointsExceeded = (code: string): Rejection =>
  rejectionForCode("loyalty_card_points_exceeded", code);

const outOfStock = (code: string): Rejection => rejectionForCode("reward_out_of_stock", code);

const notCardHolder = (code: string): Rejection => ({
  key: "invalid_customer",
  message: "Customer must be a holder of a loyalty card.",
  details: code,
});

const missingReward: Rejection = {
  key: "missing_reward",
  details: "A reward is required when redeeming a LOYALTY_CARD",
};

const missingOrder: Rejection = {
  key: "missing_order",
  details: "An order is required when paying with points of a LOYALTY_CARD",
};

const missingAmount: Rejection = {
  key: "missing_amount",
  details: "An order amount is required when paying with points of a LOYALTY_CARD",
};

const noAmountForPoints: Rejection = {
  key: "invalid_amount",
  details: "The points would not take anything off the order",
};
