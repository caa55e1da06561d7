import type { ValidationRule } from "@scrip/rules";

import { combinedScope } from "./applicable-items/item-scope.ts";
import { EMPTY_SCOPE, unmatchedScope } from "./applicable-items/matched-scope.ts";
import { type Bundles, findBundles } from "./bundles/find-bundles.ts";
import type { DiscountedUnits } from "./counts/counts.ts";
import { formulaCountGuards } from "./counts/formula-count-guards.ts";
import type { IgnoredConditions } from "./decision/decision-request.ts";
import type { Evaluation, EvaluationContext, EvaluationInput } from "./decision/evaluation.ts";
import { withStep } from "./decision/explanation-steps.ts";
import { evaluateRules, ruleCountGuards, rulesRejection } from "./eligibility/evaluate-rules.ts";
import { findFailedPrecondition } from "./eligibility/preconditions.ts";
import { type RuleEffect, ruleReader } from "./eligibility/rule-operands.ts";
import { type EvaluationLog, startEvaluationLog } from "./explanation/evaluation-log.ts";
import { explain } from "./explanation/explanation.ts";
import { hintsFor } from "./explanation/hints.ts";
import { type Redeemable, categoriesOf, redeemableKey } from "./input/redeemable.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "./input/subject.ts";
import type { OrderState } from "./order/order-state.ts";
import { type ValueOutcome, applyValue, withoutEffect } from "./pricing/apply-value.ts";
import { type Rejection, resourceNotFound } from "./rejections/rejection.ts";
import { calculationMode } from "./stacking/stacking-rules.ts";

/**
 * Evaluates one redeemable on the order after the redeemables before it. The order of the checks is
 * public: the first that fails determines the error. docs/errors.md#keys
 */
export function evaluate(
  redeemable: Redeemable,
  state: OrderState,
  context: EvaluationContext,
): Evaluation {
  const subject = subjectOf(redeemable);
  if (subject === null) return unknownRedeemable(redeemable);
  const input = { ...context, subject, state };
  const log = startEvaluationLog(redeemable, input);

  const conflict = context.conflicts?.get(redeemableKey(redeemable));
  if (conflict !== undefined) return rejectedByConflict(conflict, log);

  const failed = findFailedPrecondition(subject, context);
  if (failed !== null) {
    return inapplicable(failed.rejection, { ...log, failedPrecondition: failed });
  }

  const { ignored = NOTHING_IGNORED } = context;
  const rules = rulesOf(subject);
  const reader = ruleReader(input, null);
  const before = evaluateRules(rules, subject, reader, { phase: "before_effect", ...ignored });
  const checked = { ...log, outcomes: before.outcomes, ruleReader: reader };
  if (before.rejection !== null) return inapplicable(before.rejection, checked);

  const bundles = findBundles(rules, context.start);
  if (bundles.failed.length > 0 && !ignored.bundles) {
    return inapplicable(bundleRejection(subject, bundles.failed), { ...checked, bundles });
  }
  return evaluateEffect({ ...checked, bundles });
}

/**
 * Applies the value after every check before it passed, then checks the rules that read the effect.
 */
function evaluateEffect(checked: EvaluationLog & { readonly bundles: Bundles }): Evaluation {
  const { redeemable, input, bundles } = checked;
  const { subject, state, ignored = NOTHING_IGNORED } = input;
  const mode = calculationMode(categoriesOf(redeemable), input.stacking);
  const value = applyValue(redeemable, subject, state, { ...input, mode, bundles });
  const isIgnored =
    value.kind === "rejected" && ignored.rejections?.has(value.rejection.key) === true;
  const applied = isIgnored ? withoutEffect(subject, state) : value;
  if (applied.kind === "rejected") return inapplicable(applied.rejection, { ...checked, applied });

  const effect = ruleEffect(input, applied);
  const pending = checked.outcomes.flatMap(({ rule, status }) =>
    status === "pending" ? [rule] : [],
  );
  const reader = ruleReader(input, effect);
  const after = evaluateRules(pending, subject, reader, { phase: "after_effect", ...ignored });
  const completed = checked.outcomes.filter(({ status }) => status !== "pending");
  const outcomes = [...completed, ...after.outcomes];
  const log = { ...checked, applied, outcomes, ruleReader: reader };
  if (after.rejection !== null) return inapplicable(after.rejection, log);
  const { benefit, hasEffect, scope, units } = applied;
  return {
    kind: "applicable",
    benefit,
    hasEffect,
    state: applied.state,
    usage: effect.usage,
    guards: [
      ...ruleCountGuards(outcomes, subject, effect, input),
      ...formulaCountGuards(subject),
      ...applied.guards,
    ],
    bundle: bundles.result,
    scope,
    units,
    explanation: input.explain ? explain(log) : null,
  };
}

const inapplicable = (rejection: Rejection, log: EvaluationLog): Evaluation => ({
  kind: "inapplicable",
  rejection,
  bundle: log.bundles?.result ?? null,
  scope: unmatchedScope(combinedScope(rulesOf(log.input.subject))),
  hints: log.input.explain ? hintsFor(log) : [],
  explanation: log.input.explain ? explain(log) : null,
});

/**
 * A concurrent request exhausted the redeemable: no change of the request would help, so there are
 * no hints.
 */
const rejectedByConflict = (rejection: Rejection, log: EvaluationLog): Evaluation => ({
  kind: "inapplicable",
  rejection,
  bundle: null,
  scope: unmatchedScope(combinedScope(rulesOf(log.input.subject))),
  hints: [],
  explanation: log.input.explain ? withStep(explain(log), CONFLICT_STEP) : null,
});

const CONFLICT_STEP = {
  kind: "limit",
  passed: false,
  message: "concurrent requests used what was left",
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

/** The effect of the redeemable as rules and counts read it. */
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
