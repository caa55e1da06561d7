import type { Moment } from "@scrip/rules";

import type { BundleResult } from "./bundle-result.ts";
import { findBundles } from "./bundle.ts";
import type { DecisionRequest } from "./decide.ts";
import type { Benefit, DiscountedUnits, Guard, ReachedScope } from "./decision.ts";
import type { CategoryFacts, Redeemable, TierFacts, VoucherFacts } from "./facts.ts";
import type { Hint } from "./hints.ts";
import type { OrderState } from "./order.ts";
import { type Refused, refusedForCode, resourceNotFound } from "./refusal.ts";
import { calculationMode } from "./stacking-rules.ts";
import { type Subject, rulesOf, subjectOf } from "./subject.ts";
import { checkTierTime, checkVoucherTime } from "./time-limits.ts";
import type { Trace } from "./trace.ts";
import { applyValue } from "./value.ts";

/** What stays the same for all redeemables of a request. */
export type EvaluationContext = Omit<DecisionRequest, "redeemables"> & {
  /** The order before any of them. */
  readonly start: OrderState;
};

export type Evaluation =
  | {
      readonly kind: "applicable";
      readonly benefit: Benefit;
      /** False when nothing was taken off and no credits were spent. */
      readonly hasEffect: boolean;
      readonly state: OrderState;
      readonly guards: readonly Guard[];
      readonly bundle: BundleResult | null;
      readonly scope: ReachedScope;
      readonly units: readonly DiscountedUnits[];
      readonly trace: Trace | null;
    }
  | {
      readonly kind: "inapplicable";
      readonly refusal: Refused;
      readonly bundle: BundleResult | null;
      readonly scope: ReachedScope;
      readonly hints: readonly Hint[];
      readonly trace: Trace | null;
    };

/**
 * Evaluates one redeemable on the order as it stands. The order of the steps is public
 * (spec/validation-and-redemption.md §0.2): the first that fails decides which error is shown.
 */
export function evaluate(
  redeemable: Redeemable,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  const subject = subjectOf(redeemable);
  if (subject === null) return inapplicable(resourceNotFound(redeemable.object, redeemable.id));
  const refusal =
    subject.kind === "voucher"
      ? checkVoucher(subject.facts, context.moment)
      : checkTier(subject.facts, context.moment);
  if (refusal !== null) return inapplicable(refusal);

  const bundles = findBundles(rulesOf(subject), state);
  if (bundles.failed.length > 0) {
    const violated = bundles.failed.map(({ id }) => id).join(", ");
    return {
      ...inapplicable({
        key: "order_rules_violated",
        details: `Cannot be redeemed because of violated validation rules: ${violated}`,
      }),
      bundle: bundles.result,
    };
  }
  const mode = calculationMode(categoriesOf(redeemable), context.stacking);
  const applied = applyValue(redeemable, subject, state, { ...context, mode, bundles });
  if (applied.kind === "refused") return inapplicable(applied.refusal);
  const { benefit, hasEffect, scope, units } = applied;
  return {
    kind: "applicable",
    benefit,
    hasEffect,
    state: applied.state,
    guards: [...guardsOf(subject, benefit), ...applied.guards],
    bundle: bundles.result,
    scope,
    units,
    trace: null,
  };
}

/** Of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategoryFacts[] {
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (facts === null) return [];
  const { categories, campaign } = facts;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
}

const checkVoucher = (voucher: VoucherFacts, moment: Moment): Refused | null =>
  checkActive(voucher) ?? checkVoucherTime(voucher, moment) ?? checkQuantity(voucher);

const checkTier = (tier: TierFacts, moment: Moment): Refused | null =>
  checkTierActive(tier) ?? checkTierTime(tier, moment);

function checkActive(voucher: VoucherFacts): Refused | null {
  const isSwitchedOff = voucher.active === false || voucher.campaign?.active === false;
  return isSwitchedOff ? refusedForCode("voucher_disabled", voucher.code) : null;
}

function checkTierActive(tier: TierFacts): Refused | null {
  if (tier.active !== false && tier.campaign?.active !== false) return null;
  return {
    key: "promotion_inactive",
    details: `Promotion Tier with id: ${tier.id} is disabled.`,
  };
}

function checkQuantity(voucher: VoucherFacts): Refused | null {
  const { quantity, redeemedQuantity, lockedQuantity } = voucher;
  const isUsedUp = quantity !== null && redeemedQuantity + lockedQuantity >= quantity;
  return isUsedUp ? refusedForCode("quantity_exceeded", voucher.code) : null;
}

function guardsOf(subject: Subject, benefit: Benefit): readonly Guard[] {
  if (subject.kind === "promotion_tier") return [];
  const { id: voucherId, definitionVersion, quantity } = subject.facts;
  const guards: Guard[] = [{ kind: "definition_version", voucherId, definitionVersion }];
  if (quantity !== null) guards.push({ kind: "quantity_left", voucherId });
  if (benefit.kind === "gift" && benefit.credits > 0n) {
    guards.push({ kind: "gift_balance", voucherId, credits: benefit.credits });
  }
  return guards;
}

const inapplicable = (refusal: Refused): Evaluation & { kind: "inapplicable" } => ({
  kind: "inapplicable",
  refusal,
  bundle: null,
  scope: { applicable: [], inapplicable: [] },
  hints: [],
  trace: null,
});
