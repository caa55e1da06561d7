import { type RedemptionUsage, runningCounts } from "./counts/counts.ts";
import { requiredCounts } from "./counts/rule-counts.ts";
import type { InapplicableRedeemable, EvaluatedRedeemable } from "./decision/decision.ts";
import type { EvaluationContext } from "./decision/evaluation.ts";
import { type Explanation, withStep } from "./decision/explanation-steps.ts";
import { withRemainingStock } from "./eligibility/reward-stock.ts";
import { categoriesOf, evaluate } from "./evaluate.ts";
import type { Redeemable } from "./input/facts.ts";
import { type OrderState, orderFigures } from "./order/order-state.ts";
import { skipReason } from "./stacking/skip-reasons.ts";
import {
  type SkipCause,
  countApplied,
  newTally,
  findSkipCause,
  type StackingCandidate,
  type StackingTally,
} from "./stacking/stacking-limits.ts";
import {
  type StackingRules,
  skipsWithoutEffect,
  strongestKind,
} from "./stacking/stacking-rules.ts";

export type AppliedRedeemables = {
  readonly valid: boolean;
  /** In the order of processing. */
  readonly redeemables: readonly EvaluatedRedeemable[];
  readonly state: OrderState;
};

type Candidate = StackingCandidate & { readonly redeemable: Redeemable; readonly position: number };

/**
 * Applies several redeemables to one order; spec/validation-and-redemption.md §5.2. Being skipped
 * never makes a request invalid, except that something must apply in the end. A step is one
 * redeemable.
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
  const isExclusiveLive = yield* appliesAny(
    candidates.filter(({ kind }) => kind === "EXCLUSIVE"),
    context,
  );

  const tally = newTally();
  const judged: EvaluatedRedeemable[] = [];
  const running =
    redeemables.length > 1
      ? runningCounts(context.counts, requiredCounts(redeemables, context))
      : undefined;
  const counted = running === undefined ? context : { ...context, counts: running.counts };
  let state = start;
  for (const candidate of sortCandidates(candidates, stacking, isExclusiveLive)) {
    const barrier = findSkipCause(candidate, tally, { stacking, isExclusiveLive });
    if (judged.length > 0) yield;
    const step =
      barrier === null
        ? evaluateCandidate(
            { ...candidate, redeemable: withRemainingStock(candidate.redeemable, judged) },
            state,
            counted,
          )
        : { judged: skipCandidate(candidate, barrier, context, null), state, use: null };
    judged.push(
      candidates.length > 1
        ? withStackingStep(step.judged, candidate, tally, context)
        : step.judged,
    );
    state = step.state;
    if (step.use !== null) running?.add(step.use);
    if (step.judged.status === "INAPPLICABLE") tally.failed = true;
    if (step.judged.status === "APPLICABLE") countApplied(candidate, tally);
  }
  const isBroken = stacking.redeemablesApplicationMode === "ALL" && tally.failed;
  return { valid: tally.applied > 0 && !isBroken, redeemables: judged, state };
}

/** Whether any of them would apply if it came first. */
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
  readonly judged: EvaluatedRedeemable;
  readonly state: OrderState;
  /** Of one that applies. */
  readonly use: RedemptionUsage | null;
} {
  const { redeemable, position, categories } = candidate;
  const evaluation = evaluate(redeemable, state, context);
  if (evaluation.kind === "inapplicable") {
    const { rejection, bundle, scope, hints, explanation } = evaluation;
    const judged: InapplicableRedeemable = {
      status: "INAPPLICABLE",
      position,
      redeemable,
      rejection,
      bundle,
      scope,
      hints,
      explanation,
    };
    return { judged, state, use: null };
  }
  if (!evaluation.hasEffect && skipsWithoutEffect(categories, context.stacking)) {
    const skip = skipCandidate(candidate, { key: "no_effect" }, context, evaluation.explanation);
    return { judged: skip, state, use: null };
  }
  const { benefit, guards, bundle, scope, units, explanation } = evaluation;
  const figures = context.order === null ? null : orderFigures(state, evaluation.state);
  return {
    judged: {
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
    use: evaluation.usage,
  };
}

/** Tells of one that applies together with others how it came to do so. */
function withStackingStep(
  judged: EvaluatedRedeemable,
  { kind }: Candidate,
  { applied }: StackingTally,
  { stacking, explain }: EvaluationContext,
): EvaluatedRedeemable {
  if (!explain || judged.status !== "APPLICABLE") return judged;
  const limit = stacking.applicableRedeemablesLimit;
  const step = {
    kind: "stacking",
    passed: true,
    message: `${kind}, applies as number ${applied + 1} of at most ${limit}`,
    used: BigInt(applied),
    limit: BigInt(limit),
  } as const;
  return { ...judged, explanation: withStep(judged.explanation, step) };
}

function skipCandidate(
  { redeemable, position }: Candidate,
  { key, limit }: SkipCause,
  { explain }: EvaluationContext,
  before: Explanation | null,
): EvaluatedRedeemable {
  const skip = skipReason(key);
  const reached = limit === undefined ? {} : { used: BigInt(limit), limit: BigInt(limit) };
  const step = { kind: "stacking", passed: false, message: skip.message, ...reached } as const;
  const explanation = explain ? withStep(before, step) : null;
  return { status: "SKIPPED", position, redeemable, skip, explanation };
}

/** Sorting is stable, so that ties stay in the order of the request. */
function sortCandidates(
  candidates: readonly Candidate[],
  stacking: StackingRules,
  isExclusiveLive: boolean,
): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  const sorted =
    stacking.redeemablesSortingRule === "CATEGORY_HIERARCHY"
      ? candidates.toSorted((a, b) => hierarchyOf(a) - hierarchyOf(b) || a.position - b.position)
      : candidates;
  const jointsGoLast =
    isExclusiveLive && stacking.groupedRedeemablesSortingRule === "JOINT_ALWAYS_LAST";
  if (!jointsGoLast) return sorted;
  const isJoint = (candidate: Candidate): boolean => candidate.kind === "JOINT";
  return [...sorted.filter((candidate) => !isJoint(candidate)), ...sorted.filter(isJoint)];
}

/** The lowest number goes first; a redeemable without a category goes after all that have one. */
const hierarchyOf = ({ categories }: Candidate): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...categories.map((category) => category.hierarchy));
