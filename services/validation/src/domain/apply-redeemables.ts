import { type Use, runningCounts } from "./counts/counts.ts";
import { countsRead } from "./counts/rule-counts.ts";
import type { Inapplicable, JudgedRedeemable } from "./decision/decision.ts";
import type { EvaluationContext } from "./decision/evaluation.ts";
import { type Trace, withStep } from "./decision/explanation-steps.ts";
import { withStockLeft } from "./eligibility/reward-stock.ts";
import { categoriesOf, evaluate } from "./evaluate.ts";
import type { Redeemable } from "./input/facts.ts";
import { type OrderState, orderFigures } from "./order/order-state.ts";
import { skipOf } from "./stacking/skip-reasons.ts";
import {
  type Barrier,
  countApplied,
  emptyTally,
  findBarrier,
  type Limited,
  type Tally,
} from "./stacking/stacking-limits.ts";
import {
  type StackingRules,
  skipsWithoutEffect,
  strongestKind,
} from "./stacking/stacking-rules.ts";

export type Stacked = {
  readonly valid: boolean;
  /** In the order of processing. */
  readonly redeemables: readonly JudgedRedeemable[];
  readonly state: OrderState;
};

type Candidate = Limited & { readonly redeemable: Redeemable; readonly position: number };

/**
 * Applies several redeemables to one order; spec/validation-and-redemption.md §5.2. Being skipped
 * never makes a request invalid, except that something must apply in the end. A step is one
 * redeemable.
 */
export function* applyStack(
  redeemables: readonly Redeemable[],
  context: EvaluationContext,
): Generator<void, Stacked> {
  const { stacking, start } = context;
  const candidates = redeemables.map((redeemable, position): Candidate => {
    const categories = categoriesOf(redeemable);
    return { redeemable, position, categories, kind: strongestKind(categories, stacking) };
  });
  const isExclusiveLive = yield* anyApplies(
    candidates.filter(({ kind }) => kind === "EXCLUSIVE"),
    context,
  );

  const tally = emptyTally();
  const judged: JudgedRedeemable[] = [];
  const running =
    redeemables.length > 1
      ? runningCounts(context.counts, countsRead(redeemables, context))
      : undefined;
  const counted = running === undefined ? context : { ...context, counts: running.counts };
  let state = start;
  for (const candidate of sortCandidates(candidates, stacking, isExclusiveLive)) {
    const barrier = findBarrier(candidate, tally, { stacking, isExclusiveLive });
    if (judged.length > 0) yield;
    const step =
      barrier === null
        ? judge(
            { ...candidate, redeemable: withStockLeft(candidate.redeemable, judged) },
            state,
            counted,
          )
        : { judged: skipped(candidate, barrier, context, null), state, use: null };
    judged.push(
      candidates.length > 1 ? placed(step.judged, candidate, tally, context) : step.judged,
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
function* anyApplies(
  candidates: readonly Candidate[],
  context: EvaluationContext,
): Generator<void, boolean> {
  for (const { redeemable } of candidates) {
    if (evaluate(redeemable, context.start, context).kind === "applicable") return true;
    yield;
  }
  return false;
}

function judge(
  candidate: Candidate,
  state: OrderState,
  context: EvaluationContext,
): {
  readonly judged: JudgedRedeemable;
  readonly state: OrderState;
  /** Of one that applies. */
  readonly use: Use | null;
} {
  const { redeemable, position, categories } = candidate;
  const evaluation = evaluate(redeemable, state, context);
  if (evaluation.kind === "inapplicable") {
    const { refusal, bundle, scope, hints, trace } = evaluation;
    const judged: Inapplicable = {
      status: "INAPPLICABLE",
      position,
      redeemable,
      refusal,
      bundle,
      scope,
      hints,
      trace,
    };
    return { judged, state, use: null };
  }
  if (!evaluation.hasEffect && skipsWithoutEffect(categories, context.stacking)) {
    const skip = skipped(candidate, { key: "no_effect" }, context, evaluation.trace);
    return { judged: skip, state, use: null };
  }
  const { benefit, guards, bundle, scope, units, trace } = evaluation;
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
      trace,
    },
    state: evaluation.state,
    use: evaluation.use,
  };
}

/** Tells of one that applies together with others how it came to do so. */
function placed(
  judged: JudgedRedeemable,
  { kind }: Candidate,
  { applied }: Tally,
  { stacking, trace: isTraced }: EvaluationContext,
): JudgedRedeemable {
  if (!isTraced || judged.status !== "APPLICABLE") return judged;
  const limit = stacking.applicableRedeemablesLimit;
  const step = {
    kind: "stacking",
    passed: true,
    message: `${kind}, applies as number ${applied + 1} of at most ${limit}`,
    used: BigInt(applied),
    limit: BigInt(limit),
  } as const;
  return { ...judged, trace: withStep(judged.trace, step) };
}

function skipped(
  { redeemable, position }: Candidate,
  { key, limit }: Barrier,
  { trace: isTraced }: EvaluationContext,
  before: Trace | null,
): JudgedRedeemable {
  const skip = skipOf(key);
  const reached = limit === undefined ? {} : { used: BigInt(limit), limit: BigInt(limit) };
  const step = { kind: "stacking", passed: false, message: skip.message, ...reached } as const;
  const trace = isTraced ? withStep(before, step) : null;
  return { status: "SKIPPED", position, redeemable, skip, trace };
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
