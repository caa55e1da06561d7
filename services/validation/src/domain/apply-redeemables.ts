import { type RedemptionUsage, runningCounts } from "./counts/counts.ts";
import { requiredCounts } from "./counts/rule-counts.ts";
import type { InapplicableRedeemable, EvaluatedRedeemable } from "./decision/decision.ts";
import type { EvaluationContext } from "./decision/evaluation.ts";
import { type Explanation, withStep } from "./decision/explanation-steps.ts";
import { withRemainingStock } from "./eligibility/reward-stock.ts";
import { evaluate } from "./evaluate.ts";
import { type Redeemable, categoriesOf } from "./input/redeemable.ts";
import { orderFigures } from "./order/order-figures.ts";
import type { OrderState } from "./order/order-state.ts";
import { strongestKind } from "./stacking/exclusive-categories.ts";
import { skipReason } from "./stacking/skip-reasons.ts";
import {
  type SkipCause,
  countApplied,
  newTally,
  findSkipCause,
  type StackingCandidate,
  type StackingTally,
} from "./stacking/stacking-limits.ts";
import { type StackingRules, skipsWithoutEffect } from "./stacking/stacking-rules.ts";

export type AppliedRedeemables = {
  readonly valid: boolean;
  /** In the order of processing. */
  readonly redeemables: readonly EvaluatedRedeemable[];
  readonly state: OrderState;
};

type Candidate = StackingCandidate & { readonly redeemable: Redeemable; readonly position: number };

/**
 * Applies several redeemables to one order, one step per redeemable. Skipped redeemables do not
 * make a request invalid, but at least one redeemable must apply. docs/stacking.md#algorithm
 */
export function* applyRedeemables(
  redeemables: readonly Redeemable[],
  context: EvaluationContext,
): Generator<void, AppliedRedeemables> {
  const { stacking, start } = context;
  const candidates = redeemables.map((redeemable, position): Candidate => {
    const categories = categoriesOf(redeemable);
    return { redeemable, position, categories, kind: strongestKind(categories, stacking) };
  });
  const hasApplicableExclusive = yield* appliesAny(
    candidates.filter(({ kind }) => kind === "EXCLUSIVE"),
    context,
  );

  const tally = newTally();
  const evaluated: EvaluatedRedeemable[] = [];
  const running =
    redeemables.length > 1
      ? runningCounts(context.counts, requiredCounts(redeemables, context))
      : undefined;
  const contextWithCounts =
    running === undefined ? context : { ...context, counts: running.counts };
  let state = start;
  for (const candidate of sortCandidates(candidates, stacking, hasApplicableExclusive)) {
    const skipCause = findSkipCause(candidate, tally, { stacking, hasApplicableExclusive });
    if (evaluated.length > 0) yield;
    const step =
      skipCause === null
        ? evaluateCandidate(
            { ...candidate, redeemable: withRemainingStock(candidate.redeemable, evaluated) },
            state,
            contextWithCounts,
          )
        : { result: skipCandidate(candidate, skipCause, context, null), state, usage: null };
    evaluated.push(
      candidates.length > 1
        ? withStackingStep(step.result, candidate, tally, context)
        : step.result,
    );
    state = step.state;
    if (step.usage !== null) running?.add(step.usage);
    if (step.result.status === "INAPPLICABLE") tally.failed = true;
    if (step.result.status === "APPLICABLE") countApplied(candidate, tally);
  }
  const isBroken = stacking.redeemablesApplicationMode === "ALL" && tally.failed;
  return { valid: tally.applied > 0 && !isBroken, redeemables: evaluated, state };
}

/** Whether any candidate would apply if it were processed first. */
function* appliesAny(
  candidates: readonly Candidate[],
  context: EvaluationContext,
): Generator<void, boolean> {
  for (const { redeemable } of candidates) {
    if (evaluate(redeemable, context.start, context).kind === "applicable") return true;
    yield;
  }
  return false;
}

function evaluateCandidate(
  candidate: Candidate,
  state: OrderState,
  context: EvaluationContext,
): {
  readonly result: EvaluatedRedeemable;
  readonly state: OrderState;
  /** null unless it applies. */
  readonly usage: RedemptionUsage | null;
} {
  const { redeemable, position, categories } = candidate;
  const evaluation = evaluate(redeemable, state, context);
  if (evaluation.kind === "inapplicable") {
    const { rejection, bundle, scope, hints, explanation } = evaluation;
    const result: InapplicableRedeemable = {
      status: "INAPPLICABLE",
      position,
      redeemable,
      rejection,
      bundle,
      scope,
      hints,
      explanation,
    };
    return { result, state, usage: null };
  }
  if (!evaluation.hasEffect && skipsWithoutEffect(categories, context.stacking)) {
    const skip = skipCandidate(candidate, { key: "no_effect" }, context, evaluation.explanation);
    return { result: skip, state, usage: null };
  }
  const { benefit, guards, bundle, scope, units, explanation } = evaluation;
  const figures = context.order === null ? null : orderFigures(state, evaluation.state);
  return {
    result: {
      status: "APPLICABLE",
      position,
      redeemable,
      benefit,
      guards,
      order: figures,
      bundle,
      scope,
      units,
      explanation,
    },
    state: evaluation.state,
    usage: evaluation.usage,
  };
}

/** Adds the stacking step to the explanation of a redeemable that applies together with others. */
function withStackingStep(
  result: EvaluatedRedeemable,
  { kind }: Candidate,
  { applied }: StackingTally,
  { stacking, explain }: EvaluationContext,
): EvaluatedRedeemable {
  if (!explain || result.status !== "APPLICABLE") return result;
  const limit = stacking.applicableRedeemablesLimit;
  const step = {
    kind: "stacking",
    passed: true,
    message: `${kind}, applies as number ${applied + 1} of at most ${limit}`,
    used: BigInt(applied),
    limit: BigInt(limit),
  } as const;
  return { ...result, explanation: withStep(result.explanation, step) };
}

function skipCandidate(
  { redeemable, position }: Candidate,
  { key, limit }: SkipCause,
  { explain }: EvaluationContext,
  before: Explanation | null,
): EvaluatedRedeemable {
  const skip = skipReason(key);
  const limitReached = limit === undefined ? {} : { used: BigInt(limit), limit: BigInt(limit) };
  const step = { kind: "stacking", passed: false, message: skip.message, ...limitReached } as const;
  const explanation = explain ? withStep(before, step) : null;
  return { status: "SKIPPED", position, redeemable, skip, explanation };
}

/** Ties keep the order of the request. docs/stacking.md#algorithm */
function sortCandidates(
  candidates: readonly Candidate[],
  stacking: StackingRules,
  hasApplicableExclusive: boolean,
): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  const sorted =
    stacking.redeemablesSortingRule === "CATEGORY_HIERARCHY"
      ? candidates.toSorted((a, b) => hierarchyOf(a) - hierarchyOf(b) || a.position - b.position)
      : candidates;
  const jointsGoLast =
    hasApplicableExclusive && stacking.groupedRedeemablesSortingRule === "JOINT_ALWAYS_LAST";
  if (!jointsGoLast) return sorted;
  const isJoint = (candidate: Candidate): boolean => candidate.kind === "JOINT";
  return [...sorted.filter((candidate) => !isJoint(candidate)), ...sorted.filter(isJoint)];
}

/** The lowest hierarchy is processed first; redeemables without a category come last. */
const hierarchyOf = ({ categories }: Candidate): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...categories.map((category) => category.hierarchy));
