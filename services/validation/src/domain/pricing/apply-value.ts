import { combinedScope } from "../applicable-items/item-scope.ts";
import { unmatchedScope, type MatchedScope } from "../applicable-items/matched-scope.ts";
import type { Bundles } from "../bundles/find-bundles.ts";
import type { CountGuard } from "../counts/count-guard.ts";
import type { DiscountedUnits } from "../counts/counts.ts";
import type { BudgetUsage } from "../counts/unit-budgets.ts";
import type { Benefit } from "../decision/benefit.ts";
import type { Allocation } from "../decision/explanation-steps.ts";
import type { Redeemable } from "../input/redeemable.ts";
import { type Subject, rulesOf } from "../input/subject.ts";
import type { OrderState } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type DiscountContext, applyDiscount, selectGiftLines } from "./apply-discount.ts";
import { spendGift } from "./gift-spend.ts";
import { redeemLoyaltyCard } from "./points-payment.ts";

export type ValueContext = Omit<DiscountContext, "subject" | "bundles"> & {
  readonly bundles: Bundles;
};

/** What a redeemable gives, or why it gives nothing. */
export type ValueOutcome =
  | {
      readonly kind: "applied";
      readonly benefit: Benefit;
      /** Something was taken off, units were given or exchanged, or credits were spent. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      readonly scope: MatchedScope;
      /** Units that an item-level effect discounted, by product. */
      readonly units: readonly DiscountedUnits[];
      /** On budgets of units. */
      readonly guards: readonly CountGuard[];
      readonly allocations: readonly Allocation[];
      /** Budgets of units as they were found. */
      readonly budgets: readonly BudgetUsage[];
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/** Applies the value of a redeemable that passed every check before it. */
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
      const { picks, scope } =
        value.effect === "APPLY_TO_ITEMS"
          ? selectGiftLines(state, context)
          : { picks: [], scope: unmatchedScope(combinedScope(rulesOf(subject))) };
      const spent = spendGift(
        { voucher: subject.snapshot, value, credits, selectedLines: picks },
        state,
      );
      if (spent.kind === "rejected") return spent;
      const { benefit, allocations } = spent;
      const hasEffect = benefit.credits > 0n;
      const after = { state: spent.state, benefit, allocations, hasEffect };
      return { kind: "applied", ...after, scope, units: [], guards: [], budgets: [] };
    }
    case "LOYALTY_CARD": {
      const reward = redeemable.object === "voucher" ? redeemable.reward : null;
      const { customer, order } = valueContext;
      const spending = {
        voucher: subject.snapshot,
        value,
        reward,
        customer,
        hasOrder: order !== null,
      };
      const spent = redeemLoyaltyCard(spending, state);
      if (spent.kind === "rejected") return spent;
      const { benefit, allocations } = spent;
      const after = { state: spent.state, benefit, allocations, hasEffect: benefit.points > 0n };
      const scope = unmatchedScope(combinedScope(rulesOf(subject)));
      return { kind: "applied", ...after, scope, units: [], guards: [], budgets: [] };
    }
    default:
      return value satisfies never;
  }
}

/** A voucher or tier without a discount may be used, and changes nothing. */
export const withoutEffect = (subject: Subject, state: OrderState): ValueOutcome => ({
  kind: "applied",
  benefit: { kind: "discount", effect: null, isDynamic: false, value: null, gifts: [] },
  hasEffect: false,
  state,
  scope: unmatchedScope(combinedScope(rulesOf(subject))),
  units: [],
  guards: [],
  allocations: [],
  budgets: [],
});
