import type { SelectedLine } from "../applicable-items/item-selection.ts";
import type { Benefit } from "../decision/benefit.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type { VoucherRedeemable } from "../input/redeemable.ts";
import type { VoucherSnapshot, VoucherValue } from "../input/voucher.ts";
import { atLeastZero, smallestOf, sumOf } from "../order/minor-units.ts";
import { discountLines, discountOrder } from "../order/order-draft.ts";
import { type OrderState, subtotalAmount, totalAmount } from "../order/order-state.ts";
import { type Rejection, rejectionForCode } from "../rejections/rejection.ts";
import { allocateToLines, targetLines, selectedShare } from "./line-allocation.ts";

export type GiftValue = Extract<VoucherValue, { readonly type: "GIFT_VOUCHER" }>;

export type GiftOutcome =
  | {
      readonly kind: "spent";
      readonly benefit: Benefit & { kind: "gift" };
      readonly state: OrderState;
      readonly allocations: readonly Allocation[];
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

type GiftSpend = {
  readonly voucher: VoucherSnapshot;
  readonly value: GiftValue;
  readonly credits: VoucherRedeemable["credits"];
  /** Lines that an effect APPLY_TO_ITEMS can pay for. */
  readonly selectedLines: readonly SelectedLine[];
};

/**
 * Pays with the credits of a gift card: the requested credits, or all available ones, but at most
 * the amount left to pay. Without an order the requested credits are used in full.
 * docs/gift-and-points.md#gift-credits
 */
export function spendGift(spend: GiftSpend, state: OrderState): GiftOutcome {
  const { voucher, value, credits } = spend;
  const available = atLeastZero(value.balance - value.lockedCredits);
  if (credits !== null && credits < 0n) return rejected(invalidCredits);
  if (credits !== null && credits > available) {
    return rejected(rejectionForCode("gift_amount_exceeded", voucher.code));
  }
  if (value.effect === "APPLY_TO_ITEMS") return payForLines(spend, available, state);
  if (!state.hasAmount) {
    return credits === null ? rejected(missingAmount) : spendOutcome(value, credits, { state });
  }
  const amount = smallestOf(credits ?? available, totalAmount(state));
  const allocations = [{ orderItemIndex: null, amount, quantity: null }];
  return spendOutcome(value, amount, { state: discountOrder(state, amount), allocations });
}

/** Pays line by line until the credits are used up. */
function payForLines(spend: GiftSpend, available: bigint, state: OrderState): GiftOutcome {
  const { value, credits, selectedLines } = spend;
  if (!selectedLines.some(({ index }) => (state.lines[index]?.amount ?? 0n) > 0n)) {
    return rejected(missingOrderItemsAmount);
  }
  const payments = allocateToLines(targetLines(state, selectedLines), state, {
    limit: credits ?? available,
    valueOf: (one) => selectedShare(subtotalAmount(one.line), one),
  });
  const paid = sumOf(payments, ({ amount }) => amount);
  const allocations = payments.flatMap(({ index, amount }) =>
    amount > 0n ? [{ orderItemIndex: index, amount, quantity: null }] : [],
  );
  return spendOutcome(value, paid, { state: discountLines(state, payments), allocations });
}

function spendOutcome(
  value: GiftValue,
  credits: bigint,
  after: { readonly state: OrderState; readonly allocations?: readonly Allocation[] },
): GiftOutcome {
  const { balance, lockedCredits } = value;
  const effect = value.effect ?? "APPLY_TO_ORDER";
  return {
    kind: "spent",
    state: after.state,
    allocations: after.allocations ?? [],
    benefit: { kind: "gift", effect, balance, credits, lockedCredits },
  };
}

const rejected = (rejection: Rejection): GiftOutcome => ({ kind: "rejected", rejection });

const invalidCredits: Rejection = {
  key: "invalid_gift",
  details: "Property .gift.credits must not be negative",
};

const missingAmount: Rejection = {
  key: "missing_amount",
  details: "An order amount or gift.credits is required when redeeming a GIFT_VOUCHER",
};

const missingOrderItemsAmount: Rejection = {
  key: "missing_order_items_amount",
  details: "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
};
