import { type Call, runInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoriesOf, type Redeemable } from "../domain/input/redeemable.ts";
import { subjectOf } from "../domain/input/subject.ts";
import { type Candidate, cursorOf } from "../domain/qualification/candidate.ts";
import type { PageCursor } from "../domain/qualification/page-cursor.ts";
import { isRelevantToProducts } from "../domain/qualification/product-relevance.ts";
import type { QualificationScenario } from "../domain/qualification/qualification-scenario.ts";
import { type CandidateSource, loadNextCandidates, WINDOW } from "../loading/candidates.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { type LoadedCandidate, resolvedCandidates } from "../mapping/candidate.ts";
import type { RequestContext, DecisionContext } from "../mapping/decision-context.ts";
import type { EvaluatedCandidate } from "../mapping/evaluated-candidate.ts";
import type { Promotions } from "../mapping/promotions.ts";
import { admitDecision, type Decided, decideStepwise } from "../validation/decide.ts";

/** How candidates are evaluated. */
export type CandidateEvaluation = {
  readonly requestContext: RequestContext;
  readonly scenario: QualificationScenario;
  readonly matches: (candidate: Candidate) => boolean;
};

export type SourceEvaluation = CandidateEvaluation & { readonly source: CandidateSource };

export type LoadedCandidates = {
  readonly found: readonly LoadedCandidate[];
  readonly promotions: Promotions;
};

/** One request evaluates at most this many candidates. */
export const MAX_CANDIDATES = 1_000;

type EvaluatedWindow = {
  readonly qualified: readonly EvaluatedCandidate[];
  readonly unqualified: readonly EvaluatedCandidate[];
  readonly next: PageCursor | null;
};

/** Evaluates the candidates of a source behind a cursor, newest first, window by window. */
export async function* evaluateWindows(
  deps: Deps,
  call: Call,
  query: SourceEvaluation,
  start: PageCursor | null,
): AsyncGenerator<EvaluatedWindow, void> {
  let after = start;
  for (let count = 0; count < MAX_CANDIDATES / WINDOW; count += 1) {
    const { found, next } = await loadNextCandidates(deps, call, query.source, after);
    const { promotions } = query.source;
    const candidates = await evaluateCandidates(deps, call, query, { found, promotions });
    yield {
      qualified: candidates.filter(isQualified),
      unqualified: candidates.filter((each) => !isQualified(each)),
      next,
    };
    if (next === null) return;
    after = next;
  }
}

/** Evaluates candidates that were loaded, at most one window of them. */
export async function evaluateCandidates(
  deps: Deps,
  call: Call,
  evaluation: CandidateEvaluation,
  { found, promotions }: LoadedCandidates,
): Promise<readonly EvaluatedCandidate[]> {
  if (found.length === 0) return [];
  const resolved = resolvedCandidates({ promotions }, found);
  const context = await loadDecisionContext(deps, call, evaluation.requestContext, resolved);
  await admitDecision(context.request, call);
  return runInterleaved(evaluateEach(evaluation, found, context), call);
}

/** Evaluates each candidate alone, on the untouched order. */
function* evaluateEach(
  { scenario, matches }: CandidateEvaluation,
  found: readonly LoadedCandidate[],
  context: DecisionContext,
): Generator<void, readonly EvaluatedCandidate[]> {
  const { request } = context;
  const byId = new Map(request.redeemables.map((each) => [keyOf(each), each]));
  const cart = { lines: request.order?.lines ?? [], catalogue: request.catalogue };
  const concerns = (redeemable: Redeemable): boolean => {
    const subject = subjectOf(redeemable);
    return subject !== null && isRelevantToProducts(subject, scenario.products, cart);
  };
  const evaluated: EvaluatedCandidate[] = [];
  for (const { candidate, tierIds } of found) {
    const keys =
      candidate.object === "voucher" ? [`voucher ${candidate.id}`] : tierIds.map(tierKey);
    const redeemables = keys.flatMap((key) => byId.get(key) ?? []);
    const own = redeemables.flatMap(categoriesOf).map(({ id }) => id);
    const categoryIds = [...new Set([...candidate.categoryIds, ...own])];
    const isWanted = matches({ ...candidate, categoryIds }) && redeemables.some(concerns);
    if (!isWanted) continue;
    if (evaluated.length > 0) yield;
    const decision = yield* decideStepwise({ ...request, redeemables });
    evaluated.push(evaluatedCandidate(candidate, decision, context));
  }
  return evaluated;
}

const tierKey = (id: string): string => `promotion_tier ${id}`;
const keyOf = ({ object, id }: Redeemable): string => `${object} ${id}`;

function evaluatedCandidate(
  candidate: Candidate,
  decision: Decided,
  context: DecisionContext,
): EvaluatedCandidate {
  const { redeemables: evaluated, order } = decision;
  const amount = order?.totalAppliedDiscountAmount ?? 0n;
  return { candidate, evaluated, order, context, cursor: { ...cursorOf(candidate), amount } };
}

/** All tiers of a stack must apply. */
export const isQualified = ({ evaluated }: EvaluatedCandidate): boolean =>
  evaluated.length > 0 && evaluated.every(({ status }) => status === "APPLICABLE");
