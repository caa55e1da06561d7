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
  /** What an effect on items may pay for. */
  readonly selectedLines: readonly SelectedLine[];
};

/**
 * Pays with a gift card: the credits that were named, or all that are free, but never more than is
 * left to pay (spec/validation-and-redemption.md §8.4). Without anything to pay for, credits that
 * were named are taken in full: the shop knows what it sells.
 */
export function spendGift(spending: GiftSpend, state: OrderState): GiftOutcome {
  const { voucher, value, credits } = spending;
  const free = atLeastZero(value.balance - value.lockedCredits);
  if (credits !== null && credits < 0n) return rejected(invalidCredits);
  if (credits !== null && credits > free) {
    return rejected(rejectionForCode("gift_amount_exceeded", voucher.code));
  }
  if (value.effect === "APPLY_TO_ITEMS") return payForLines(spending, free, state);
  if (!state.hasAmount) {
    return credits === null ? rejected(missingAmount) : spendOutcome(value, credits, { state });
  }
  const amount = smallestOf(credits ?? free, totalAmount(state));
  const allocations = [{ orderItemIndex: null, amount, quantity: null }];
  return spendOutcome(value, amount, { state: discountOrder(state, amount), allocations });
}

/** Pays for the lines in turn until the credits are used up. */
function payForLines(spending: GiftSpend, free: bigint, state: OrderState): GiftOutcome {
  const { value, credits, selectedLines: picks } = spending;
  if (!picks.some(({ index }) => (state.lines[index]?.amount ?? 0n) > 0n)) {
    return rejected(missingOrderItemsAmount);
  }
  const payments = allocateToLines(targetLines(state, picks), state, {
    limit: credits ?? free,
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
