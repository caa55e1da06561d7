import type { Benefit } from "./decision.ts";
import type { VoucherFacts, VoucherRedeemable, VoucherValue } from "./facts.ts";
import { atLeastZero, least, sumOf } from "./minor-units.ts";
import {
  type LineDiscount,
  type OrderState,
  discountLines,
  discountOrder,
  subtotalAmount,
  totalAmount,
} from "./order.ts";
import { type Refused, refusedForCode } from "./refusal.ts";

export type GiftValue = Extract<VoucherValue, { readonly type: "GIFT_VOUCHER" }>;

export type GiftOutcome =
  | {
      readonly kind: "spent";
      readonly benefit: Benefit & { kind: "gift" };
      readonly state: OrderState;
    }
  | { readonly kind: "refused"; readonly refusal: Refused };

type GiftSpending = {
  readonly voucher: VoucherFacts;
  readonly value: GiftValue;
  readonly credits: VoucherRedeemable["credits"];
  /** Positions of the lines that an effect on items may pay for. */
  readonly selection: readonly number[];
};

/**
 * Pays with a gift card: the credits that were named, or all that are free, but never more than is
 * left to pay (spec/validation-and-redemption.md §8.4). Without anything to pay for, credits that
 * were named are taken in full: the shop knows what it sells.
 */
export function spendGift(spending: GiftSpending, state: OrderState): GiftOutcome {
  const { voucher, value, credits } = spending;
  const free = atLeastZero(value.balance - value.lockedCredits);
  if (credits !== null && credits < 0n) return refused(invalidCredits);
  if (credits !== null && credits > free) {
    return refused(refusedForCode("gift_amount_exceeded", voucher.code));
  }
  if (value.effect === "APPLY_TO_ITEMS") return payForLines(spending, free, state);
  if (!state.hasAmount) {
    return credits === null ? refused(missingAmount) : spent(value, credits, state);
  }
  const amount = least(credits ?? free, totalAmount(state));
  return spent(value, amount, discountOrder(state, amount));
}

/** Pays for the lines in turn until the credits are used up. */
function payForLines(spending: GiftSpending, free: bigint, state: OrderState): GiftOutcome {
  const { value, credits, selection } = spending;
  if (!selection.some((index) => (state.lines[index]?.amount ?? 0n) > 0n)) {
    return refused(missingOrderItemsAmount);
  }
  let left = least(credits ?? free, totalAmount(state));
  const payments: LineDiscount[] = [];
  for (const index of selection) {
    const line = state.lines[index];
    if (line === undefined) continue;
    const amount = least(subtotalAmount(line), left);
    left -= amount;
    payments.push({ index, amount });
  }
  const paid = sumOf(payments, (payment) => payment.amount);
  return spent(value, paid, discountLines(state, payments));
}

function spent(value: GiftValue, credits: bigint, state: OrderState): GiftOutcome {
  const { balance, lockedCredits } = value;
  const effect = value.effect ?? "APPLY_TO_ORDER";
  return {
    kind: "spent",
    state,
    benefit: { kind: "gift", effect, balance, credits, lockedCredits },
  };
}

const refused = (refusal: Refused): GiftOutcome => ({ kind: "refused", refusal });

const invalidCredits: Refused = {
  key: "invalid_gift",
  details: "Property .gift.credits must not be negative",
};

const missingAmount: Refused = {
  key: "missing_amount",
  details: "An order amount or gift.credits is required when redeeming a GIFT_VOUCHER",
};

const missingOrderItemsAmount: Refused = {
  key: "missing_order_items_amount",
  details: "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
};
