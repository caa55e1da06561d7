import { combinedScope } from "../applicable-items/item-scope.ts";
import { unmatchedScope } from "../applicable-items/matched-scope.ts";
import type { Bundles } from "../bundles/find-bundles.ts";
import type { Benefit } from "../decision/benefit.ts";
import type { Redeemable } from "../input/redeemable.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { OrderState } from "../order/order-state.ts";
import {
  type DiscountContext,
  type OutcomeOf,
  applyDiscount,
  selectGiftLines,
} from "./apply-discount.ts";
import { spendGift } from "./gift-spend.ts";
import { redeemLoyaltyCard } from "./points-payment.ts";

export type ValueContext = Omit<DiscountContext, "subject" | "bundles"> & {
  readonly bundles: Bundles;
};

export type ValueOutcome = OutcomeOf<Benefit>;

/**
 * Applies the discount, the gift credits or the loyalty points of a redeemable whose checks passed.
 */
export function applyValue(
  redeemable: Redeemable,
  subject: Subject,
  state: OrderState,
  valueContext: ValueContext,
): ValueOutcome {
  const context: DiscountContext = { ...valueContext, subject };
  if (subject.kind === "promotion_tier") {
    const { discount } = subject.snapshot;
    return discount === null
      ? withoutEffect(subject, state)
      : applyDiscount(discount, state, context);
  }
  const { value } = subject.snapshot;
  switch (value.type) {
    case "DISCOUNT_VOUCHER":
      return value.discount === null
        ? withoutEffect(subject, state)
        : applyDiscount(value.discount, state, context);
    case "GIFT_VOUCHER": {
      const credits = redeemable.object === "voucher" ? redeemable.credits : null;
      const { selectedLines, scope } =
        value.effect === "APPLY_TO_ITEMS"
          ? selectGiftLines(state, context)
          : { selectedLines: [], scope: unmatchedScope(combinedScope(rulesOf(subject))) };
      const outcome = spendGift(
        { voucher: subject.snapshot, value, credits, selectedLines },
        state,
      );
      if (outcome.kind === "rejected") return outcome;
      const { benefit, allocations } = outcome;
      const hasEffect = benefit.credits > 0n;
      const after = { state: outcome.state, benefit, allocations, hasEffect };
      return { kind: "applied", ...after, scope, units: [], guards: [], budgets: [] };
    }
    case "LOYALTY_CARD": {
      const reward = redeemable.object === "voucher" ? redeemable.reward : null;
      const { customer, order } = valueContext;
      const redemption = {
        voucher: subject.snapshot,
        value,
        reward,
        customer,
        hasOrder: order !== null,
      };
      const outcome = redeemLoyaltyCard(redemption, state);
      if (outcome.kind === "rejected") return outcome;
      const { benefit, allocations } = outcome;
      const after = { state: outcome.state, benefit, allocations, hasEffect: benefit.points > 0n };
      const scope = unmatchedScope(combinedScope(rulesOf(subject)));
      return { kind: "applied", ...after, scope, units: [], guards: [], budgets: [] };
    }
    default:
      return value satisfies never;
  }
}

/** A voucher or tier without a discount applies without effect. */
export const withoutEffect = (subject: Subject, state: OrderState): ValueOutcome => ({
  kind: "applied",
  benefit: { kind: "discount", effect: null, isDynamic: false, value: null, grants: [] },
  hasEffect: false,
  state,
  scope: unmatchedScope(combinedScope(rulesOf(subject))),
  units: [],
  guards: [],
  allocations: [],
  budgets: [],
});
