import type { ValidationRule } from "@scrip/rules";

import { combinedScope } from "./applicable-items/item-scope.ts";
import { EMPTY_SCOPE, unmatchedScope } from "./applicable-items/reached-scope.ts";
import { type Bundles, findBundles } from "./bundles/find-bundles.ts";
import { formulaCountGuards } from "./counts/formula-count-guards.ts";
import type { IgnoredConditions } from "./decide.ts";
import type { Benefit, DiscountedUnits, Guard } from "./decision/decision.ts";
import type { Evaluation, EvaluationContext, EvaluationInput } from "./decision/evaluation.ts";
import { withStep } from "./decision/explanation-steps.ts";
import { evaluateRules, ruleCountGuards, rulesRejection } from "./eligibility/evaluate-rules.ts";
import { findFailedPrecondition } from "./eligibility/preconditions.ts";
import { type RuleEffect, ruleReader } from "./eligibility/rule-operands.ts";
import { type EvaluationLog, startEvaluationLog } from "./explanation/evaluation-log.ts";
import { explain } from "./explanation/explanation.ts";
import { hintsFor } from "./explanation/hints.ts";
import type { CategorySnapshot, Redeemable } from "./input/facts.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "./input/subject.ts";
import type { OrderState } from "./order/order-state.ts";
import { type ValueOutcome, applyValue, withoutEffect } from "./pricing/apply-value.ts";
import { redeemableKey } from "./redemption/commit-conflicts.ts";
import { type Rejection, resourceNotFound } from "./rejections/rejection.ts";
import { calculationMode } from "./stacking/stacking-rules.ts";

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
  if (subject === null) return unknownRedeemable(redeemable);
  const facts = { ...context, subject, state };
  const start = startEvaluationLog(redeemable, facts);

  const lost = context.conflicts?.get(redeemableKey(redeemable));
  if (lost !== undefined) return conflictRejection(lost, start);

  const failed = findFailedPrecondition(subject, context);
  if (failed !== null)
    return inapplicable(failed.rejection, { ...start, failedPrecondition: failed });

  const { ignored: omits = NOTHING_IGNORED } = context;
  const rules = rulesOf(subject);
  const reader = ruleReader(facts, null);
  const before = evaluateRules(rules, subject, reader, { phase: "before_effect", ...omits });
  const checked = { ...start, outcomes: before.outcomes, ruleReader: reader };
  if (before.rejection !== null) return inapplicable(before.rejection, checked);

  const bundles = findBundles(rules, context.start);
  if (bundles.failed.length > 0 && !omits.bundles) {
    return inapplicable(bundleRejection(subject, bundles.failed), { ...checked, bundles });
  }
  return evaluateEffect({ ...checked, bundles });
}

/** Works out the effect of what passed every check before it, and checks what comes of it. */
function evaluateEffect(checked: EvaluationLog & { readonly bundles: Bundles }): Evaluation {
  const { redeemable, input: facts, bundles } = checked;
  const { subject, state, ignored: omits = NOTHING_IGNORED } = facts;
  const mode = calculationMode(categoriesOf(redeemable), facts.stacking);
  const value = applyValue(redeemable, subject, state, { ...facts, mode, bundles });
  const isForgiven =
    value.kind === "rejected" && omits.rejections?.has(value.rejection.key) === true;
  const applied = isForgiven ? withoutEffect(subject, state) : value;
  if (applied.kind === "rejected") return inapplicable(applied.rejection, { ...checked, applied });

  const effect = ruleEffect(facts, applied);
  const pending = checked.outcomes.flatMap(({ rule, status }) =>
    status === "pending" ? [rule] : [],
  );
  const reader = ruleReader(facts, effect);
  const after = evaluateRules(pending, subject, reader, { phase: "after_effect", ...omits });
  const settled = checked.outcomes.filter(({ status }) => status !== "pending");
  const course = {
    ...checked,
    applied,
    outcomes: [...settled, ...after.outcomes],
    ruleReader: reader,
  };
  if (after.rejection !== null) return inapplicable(after.rejection, course);
  const { benefit, hasEffect, scope, units } = applied;
  return {
    kind: "applicable",
    benefit,
    hasEffect,
    state: applied.state,
    usage: effect.usage,
    guards: [
      ...guardsOf(subject, benefit),
      ...ruleCountGuards(course.outcomes, subject, effect, facts),
      ...formulaCountGuards(subject),
      ...applied.guards,
    ],
    bundle: bundles.result,
    scope,
    units,
    explanation: facts.explain ? explain(course) : null,
  };
}

const inapplicable = (rejection: Rejection, course: EvaluationLog): Evaluation => ({
  kind: "inapplicable",
  rejection,
  bundle: course.bundles?.result ?? null,
  scope: unmatchedScope(combinedScope(rulesOf(course.input.subject))),
  hints: course.input.explain ? hintsFor(course) : [],
  explanation: course.input.explain ? explain(course) : null,
});

/** Others were faster: nothing that the caller could change would help. */
const conflictRejection = (rejection: Rejection, course: EvaluationLog): Evaluation => ({
  kind: "inapplicable",
  rejection,
  bundle: null,
  scope: unmatchedScope(combinedScope(rulesOf(course.input.subject))),
  hints: [],
  explanation: course.input.explain ? withStep(explain(course), CONFLICT_STEP) : null,
});

const CONFLICT_STEP = {
  kind: "limit",
  passed: false,
  message: "others were faster to take what was left",
} as const;

const NOTHING_IGNORED: IgnoredConditions = { rules: new Set(), bundles: false };

const unknownRedeemable = ({ object, id }: Redeemable): Evaluation => ({
  kind: "inapplicable",
  rejection: resourceNotFound(object, id),
  bundle: null,
  scope: EMPTY_SCOPE,
  hints: [],
  explanation: null,
});

const bundleRejection = (subject: Subject, failed: readonly ValidationRule[]): Rejection =>
  rulesRejection(subject, {
    ruleIds: failed.map(({ id }) => id),
    class: "order",
    message: failed[0]?.message ?? null,
  });

/** What the redeemable does, as rules and counts see it. */
function ruleEffect(
  { subject, state: before, order }: EvaluationInput,
  { state, benefit, units }: ValueOutcome & { readonly kind: "applied" },
): RuleEffect {
  const campaign = campaignOf(subject);
  return {
    state,
    points: benefit.kind === "loyalty" ? benefit.points : null,
    usage: {
      scopes: [
        { kind: subject.kind, id: subject.snapshot.id },
        ...(campaign === null ? [] : [{ kind: "campaign" as const, id: campaign.id }]),
      ],
      orderAmount: order === null ? 0n : state.amount,
      discountedAmount: totalDiscount(state) - totalDiscount(before),
      credits: benefit.kind === "gift" ? benefit.credits : 0n,
      units: units.length === 0 ? NO_UNITS : new Map(units.map(unitsEntry)),
    },
  };
}

const NO_UNITS: ReadonlyMap<string, bigint> = new Map();

const unitsEntry = ({ productId, quantity }: DiscountedUnits) => [productId, quantity] as const;

const totalDiscount = ({ discountAmount, itemsDiscountAmount }: OrderState): bigint =>
  discountAmount + itemsDiscountAmount;

/** Of the redeemable itself and of its campaign. */
export function categoriesOf(redeemable: Redeemable): readonly CategorySnapshot[] {
  const facts = redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier;
  if (facts === null) return [];
  const { categories, campaign } = facts;
  if (campaign === null || campaign.categories.length === 0) return categories;
  const own = new Set(categories.map((category) => category.id));
  return [...categories, ...campaign.categories.filter((category) => !own.has(category.id))];
}

function guardsOf(subject: Subject, benefit: Benefit): readonly Guard[] {
  if (subject.kind === "promotion_tier") return [];
  const { id: voucherId, definitionVersion, quantity } = subject.snapshot;
  const guards: Guard[] = [{ kind: "definition_version", voucherId, definitionVersion }];
  if (quantity !== null) guards.push({ kind: "quantity_left", voucherId });
  if (benefit.kind === "gift" && benefit.credits > 0n) {
    guards.push({ kind: "gift_balance", voucherId, credits: benefit.credits });
  }
  return guards;
}
