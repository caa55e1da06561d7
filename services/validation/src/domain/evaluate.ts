import type { ValidationRule } from "@scrip/rules";

import { unionOfScopes } from "./applicable-items/item-scope.ts";
import { NOTHING_REACHED, storedScope } from "./applicable-items/reached-scope.ts";
import { type Bundles, findBundles } from "./bundles/find-bundles.ts";
import { formulaGuards } from "./counts/formula-count-guards.ts";
import type { Omissions } from "./decide.ts";
import type { Benefit, DiscountedUnits, Guard } from "./decision/decision.ts";
import type { Evaluation, EvaluationContext, EvaluationFacts } from "./decision/evaluation.ts";
import { withStep } from "./decision/explanation-steps.ts";
import { checkRules, countGuards, refusedByRules } from "./eligibility/evaluate-rules.ts";
import { closedGate } from "./eligibility/preconditions.ts";
import { type RuleEffect, ruleReader } from "./eligibility/rule-operands.ts";
import { type Course, startOfCourse } from "./explanation/evaluation-log.ts";
import { traceOf } from "./explanation/explanation.ts";
import { hintsOf } from "./explanation/hints.ts";
import type { CategoryFacts, Redeemable } from "./input/facts.ts";
import { type Subject, campaignOf, rulesOf, subjectOf } from "./input/subject.ts";
import type { OrderState } from "./order/order-state.ts";
import { type ValueOutcome, applyValue, withoutEffect } from "./pricing/apply-value.ts";
import { nameOfRedeemable } from "./redemption/commit-conflicts.ts";
import { type Refused, resourceNotFound } from "./rejections/rejection.ts";
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
  if (subject === null) return unknown(redeemable);
  const facts = { ...context, subject, state };
  const start = startOfCourse(redeemable, facts);

  const lost = context.lost?.get(nameOfRedeemable(redeemable));
  if (lost !== undefined) return lostTo(lost, start);

  const closed = closedGate(subject, context);
  if (closed !== null) return refused(closed.refusal, { ...start, closed });

  const { omits = NOTHING_OMITTED } = context;
  const rules = rulesOf(subject);
  const reader = ruleReader(facts, null);
  const before = checkRules(rules, subject, reader, { phase: "before_effect", ...omits });
  const checked = { ...start, outcomes: before.outcomes, reader };
  if (before.refusal !== null) return refused(before.refusal, checked);

  const bundles = findBundles(rules, context.start);
  if (bundles.failed.length > 0 && !omits.bundles) {
    return refused(refusedByBundles(subject, bundles.failed), { ...checked, bundles });
  }
  return work({ ...checked, bundles });
}

/** Works out the effect of what passed every check before it, and checks what comes of it. */
function work(checked: Course & { readonly bundles: Bundles }): Evaluation {
  const { redeemable, facts, bundles } = checked;
  const { subject, state, omits = NOTHING_OMITTED } = facts;
  const mode = calculationMode(categoriesOf(redeemable), facts.stacking);
  const value = applyValue(redeemable, subject, state, { ...facts, mode, bundles });
  const isForgiven = value.kind === "refused" && omits.refusals?.has(value.refusal.key) === true;
  const applied = isForgiven ? withoutEffect(subject, state) : value;
  if (applied.kind === "refused") return refused(applied.refusal, { ...checked, applied });

  const effect = effectOf(facts, applied);
  const pending = checked.outcomes.flatMap(({ rule, status }) =>
    status === "pending" ? [rule] : [],
  );
  const reader = ruleReader(facts, effect);
  const after = checkRules(pending, subject, reader, { phase: "after_effect", ...omits });
  const settled = checked.outcomes.filter(({ status }) => status !== "pending");
  const course = { ...checked, applied, outcomes: [...settled, ...after.outcomes], reader };
  if (after.refusal !== null) return refused(after.refusal, course);
  const { benefit, hasEffect, scope, units } = applied;
  return {
    kind: "applicable",
    benefit,
    hasEffect,
    state: applied.state,
    use: effect.use,
    guards: [
      ...guardsOf(subject, benefit),
      ...countGuards(course.outcomes, subject, effect, facts),
      ...formulaGuards(subject),
      ...applied.guards,
    ],
    bundle: bundles.result,
    scope,
    units,
    trace: facts.trace ? traceOf(course) : null,
  };
}

const refused = (refusal: Refused, course: Course): Evaluation => ({
  kind: "inapplicable",
  refusal,
  bundle: course.bundles?.result ?? null,
  scope: storedScope(unionOfScopes(rulesOf(course.facts.subject))),
  hints: course.facts.trace ? hintsOf(course) : [],
  trace: course.facts.trace ? traceOf(course) : null,
});

/** Others were faster: nothing that the caller could change would help. */
const lostTo = (refusal: Refused, course: Course): Evaluation => ({
  kind: "inapplicable",
  refusal,
  bundle: null,
  scope: storedScope(unionOfScopes(rulesOf(course.facts.subject))),
  hints: [],
  trace: course.facts.trace ? withStep(traceOf(course), LOST) : null,
});

const LOST = {
  kind: "limit",
  passed: false,
  message: "others were faster to take what was left",
} as const;

const NOTHING_OMITTED: Omissions = { rules: new Set(), bundles: false };

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

/** What the redeemable does, as rules and counts see it. */
function effectOf(
  { subject, state: before, order }: EvaluationFacts,
  { state, benefit, units }: ValueOutcome & { readonly kind: "applied" },
): RuleEffect {
  const campaign = campaignOf(subject);
  return {
    state,
    points: benefit.kind === "loyalty" ? benefit.points : null,
    use: {
      scopes: [
        { kind: subject.kind, id: subject.facts.id },
        ...(campaign === null ? [] : [{ kind: "campaign" as const, id: campaign.id }]),
      ],
      orderAmount: order === null ? 0n : state.amount,
      discountedAmount: discountsOf(state) - discountsOf(before),
      credits: benefit.kind === "gift" ? benefit.credits : 0n,
      units: units.length === 0 ? NO_UNITS : new Map(units.map(unitsOf)),
    },
  };
}

const NO_UNITS: ReadonlyMap<string, bigint> = new Map();

const unitsOf = ({ productId, quantity }: DiscountedUnits) => [productId, quantity] as const;

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
