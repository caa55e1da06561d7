import type { ValidationRule } from "@scrip/rules";

import type { BundleResult } from "./bundle-result.ts";
import { findBundles } from "./bundle.ts";
import type { Use } from "./counts.ts";
import { hintsOf } from "./course-hints.ts";
import { traceOf } from "./course-trace.ts";
import { type Course, startOfCourse } from "./course.ts";
import type { DecisionRequest } from "./decide.ts";
import type { Benefit, DiscountedUnits, Guard, ReachedScope } from "./decision.ts";
import type { CategoryFacts, Redeemable } from "./facts.ts";
import { formulaGuards } from "./formula-guards.ts";
import { closedGate } from "./gates.ts";
import type { Hint } from "./hints.ts";
import type { OrderState } from "./order.ts";
import { NOTHING_REACHED } from "./reached-scope.ts";
import { type Refused, resourceNotFound } from "./refusal.ts";
import { type CheckedRules, checkRules, countGuards, refusedByRules } from "./rule-check.ts";
import { type RuleEffect, ruleReader } from "./rule-reader.ts";
import { calculationMode } from "./stacking-rules.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "./subject.ts";
import type { Trace } from "./trace.ts";
import { type ValueOutcome, applyValue } from "./value.ts";

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
      /** What it adds to the counts that others are limited by. */
      readonly use: Use;
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
  if (subject === null) return unknown(redeemable);
  const facts = { ...context, subject, state };
  const start = startOfCourse(redeemable, subject, facts);
  const refused = (refusal: Refused, course: Course): Evaluation => ({
    kind: "inapplicable",
    refusal,
    bundle: course.bundles?.result ?? null,
    scope: NOTHING_REACHED,
    hints: context.trace ? hintsOf(course) : [],
    trace: context.trace ? traceOf(course) : null,
  });

  const closed = closedGate(subject, context);
  if (closed !== null) return refused(closed.refusal, { ...start, closed });

  const rules = rulesOf(subject);
  const before = checkRules(rules, subject, ruleReader(facts, null), "before_effect");
  const checked = { ...start, outcomes: before.outcomes };
  if (before.refusal !== null) return refused(before.refusal, checked);

  const bundles = findBundles(rules, state);
  if (bundles.failed.length > 0) {
    return refused(refusedByBundles(subject, bundles.failed), { ...checked, bundles });
  }
  const mode = calculationMode(categoriesOf(redeemable), context.stacking);
  const applied = applyValue(redeemable, subject, state, { ...context, mode, bundles });
  const valued = { ...checked, bundles, applied };
  if (applied.kind === "refused") return refused(applied.refusal, valued);

  const effect = effectOf(subject, state, applied, context);
  const after = checkRules(pendingIn(before), subject, ruleReader(facts, effect), "after_effect");
  const outcomes = [...settledIn(before), ...after.outcomes];
  if (after.refusal !== null) return refused(after.refusal, { ...valued, outcomes });
  const { benefit, hasEffect, scope, units } = applied;
  return {
    kind: "applicable",
    benefit,
    hasEffect,
    state: applied.state,
    use: effect.use,
    guards: [
      ...guardsOf(subject, benefit),
      ...countGuards(outcomes, subject, effect, context),
      ...formulaGuards(subject),
      ...applied.guards,
    ],
    bundle: bundles.result,
    scope,
    units,
    trace: context.trace ? traceOf({ ...valued, outcomes }) : null,
  };
}

const unknown = ({ object, id }: Redeemable): Evaluation => ({
  kind: "inapplicable",
  refusal: resourceNotFound(object, id),
  bundle: null,
  scope: NOTHING_REACHED,
  hints: [],
  trace: null,
});

const refusedByBundles = (subject: Subject, failed: readonly ValidationRule[]): Refused =>
  refusedByRules(subject, {
    ruleIds: failed.map(({ id }) => id),
    class: "order",
    message: failed[0]?.message ?? null,
  });

const pendingIn = ({ outcomes }: CheckedRules): readonly ValidationRule[] =>
  outcomes.flatMap(({ rule, status }) => (status === "pending" ? [rule] : []));

const settledIn = ({ outcomes }: CheckedRules) =>
  outcomes.filter(({ status }) => status !== "pending");

/** What the redeemable does, as rules and counts see it. */
function effectOf(
  subject: Subject,
  before: OrderState,
  { state, benefit, units }: ValueOutcome & { readonly kind: "applied" },
  { order }: EvaluationContext,
): RuleEffect {
  const campaign = campaignOf(subject);
  return {
    state,
    points: null,
    use: {
      scopes: [
        { kind: subject.kind, id: subject.facts.id },
        ...(campaign === null ? [] : [{ kind: "campaign" as const, id: campaign.id }]),
      ],
      orderAmount: order === null ? 0n : state.amount,
      discountedAmount: discountsOf(state) - discountsOf(before),
      credits: benefit.kind === "gift" ? benefit.credits : 0n,
      units,
    },
  };
}

const discountsOf = ({ discountAmount, itemsDiscountAmount }: OrderState): bigint =>
  discountAmount + itemsDiscountAmount;

/** Of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategoryFacts[] {
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (facts === null) return [];
  const { categories, campaign } = facts;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
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
