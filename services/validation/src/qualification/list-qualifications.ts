import { type Call, runInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoriesOf, type Redeemable } from "../domain/input/redeemable.ts";
import { subjectOf } from "../domain/input/subject.ts";
import { type Candidate, cursorOf } from "../domain/qualification/candidate.ts";
import {
  type PageCursor,
  type RankedPageCursor,
  formatPageCursor,
} from "../domain/qualification/page-cursor.ts";
import { isRelevantToProducts } from "../domain/qualification/product-relevance.ts";
import type { QualificationScenario } from "../domain/qualification/qualification-scenario.ts";
import { pageEnd, rankByDiscount, type SortingRule } from "../domain/qualification/ranking.ts";
import { type CandidateSource, loadNextCandidates, WINDOW } from "../loading/candidates.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { type LoadedCandidate, resolvedCandidates } from "../mapping/candidate.ts";
import type { RequestContext, DecisionContext } from "../mapping/decision-context.ts";
import type { EvaluatedCandidate, QualificationPage } from "../mapping/evaluated-candidate.ts";
import { type Decided, decideStepwise } from "../validation/decide.ts";

export type QualificationQuery = {
  readonly requestContext: RequestContext;
  readonly scenario: QualificationScenario;
  readonly source: CandidateSource;
  readonly matches: (candidate: Candidate) => boolean;
  readonly sorting: SortingRule;
  readonly after: PageCursor | RankedPageCursor | null;
  readonly limit: number;
};

/** One request evaluates at most 1,000 candidates, window by window. */
const MAX_WINDOWS = 1_000 / WINDOW;

export const listQualifications = (
  deps: Deps,
  call: Call,
  query: QualificationQuery,
): Promise<QualificationPage> =>
  query.sorting === "DEFAULT"
    ? listNewest(deps, call, query)
    : listRanked(deps, call, query, query.sorting);

/** Reads until the page is full and one more candidate shows that another page exists. */
async function listNewest(
  deps: Deps,
  call: Call,
  query: QualificationQuery,
): Promise<QualificationPage> {
  const found: EvaluatedCandidate[] = [];
  const unqualified: EvaluatedCandidate[] = [];
  let next: PageCursor | null = null;
  for await (const window of evaluateWindows(deps, call, query, query.after)) {
    found.push(...window.qualified);
    unqualified.push(...window.unqualified);
    next = window.next;
    if (found.length > query.limit) break;
  }
  const page = found.slice(0, query.limit);
  const [last, following] = [page.at(-1), found[query.limit]];
  const end = last && following ? pageEnd(last.cursor, following.cursor) : next;
  return { page, unqualified, nextCursor: end && formatPageCursor(withoutAmount(end)) };
}

/** Ranks all candidates that one request evaluates; later pages continue the same ranking. */
async function listRanked(
  deps: Deps,
  call: Call,
  query: QualificationQuery,
  rule: Exclude<SortingRule, "DEFAULT">,
): Promise<QualificationPage> {
  const after = query.after !== null && "amount" in query.after ? query.after : null;
  const ranking = { rule, after, limit: query.limit + 1 };
  const unqualified: EvaluatedCandidate[] = [];
  let best: readonly EvaluatedCandidate[] = [];
  for await (const window of evaluateWindows(
    deps,
    call,
    query,
    after === null ? query.after : null,
  )) {
    best = rankByDiscount([...best, ...window.qualified], ranking);
    unqualified.push(...window.unqualified);
  }
  const page = best.slice(0, query.limit);
  const last = page.at(-1);
  return {
    page,
    unqualified,
    nextCursor: last && best.length > query.limit ? formatPageCursor(last.cursor) : null,
  };
}

const withoutAmount = ({ createdAt, idSuffix }: PageCursor): PageCursor => ({
  createdAt,
  idSuffix,
});

type EvaluatedWindow = {
  readonly qualified: readonly EvaluatedCandidate[];
  readonly unqualified: readonly EvaluatedCandidate[];
  readonly next: PageCursor | null;
};

async function* evaluateWindows(
  deps: Deps,
  call: Call,
  query: QualificationQuery,
  start: PageCursor | null,
): AsyncGenerator<EvaluatedWindow, void> {
  let after = start;
  for (let count = 0; count < MAX_WINDOWS; count += 1) {
    const { found, next } = await loadNextCandidates(deps, call, query.source, after);
    const candidates = found.length === 0 ? [] : await evaluateWindow(deps, call, query, found);
    const qualifies = candidates.map((each) => isQualified(each));
    yield {
      qualified: candidates.filter((_, position) => qualifies[position]),
      unqualified: candidates.filter((_, position) => !qualifies[position]),
      next,
    };
    if (next === null) return;
    after = next;
  }
}

async function evaluateWindow(
  deps: Deps,
  call: Call,
  query: QualificationQuery,
  found: readonly LoadedCandidate[],
): Promise<readonly EvaluatedCandidate[]> {
  const resolved = resolvedCandidates(query.source, found);
  const context = await loadDecisionContext(deps, call, query.requestContext, resolved);
  return runInterleaved(evaluateEach(query, found, context), call.deadline);
}

/** Evaluates each candidate alone, on the untouched order. */
function* evaluateEach(
  { scenario, matches }: QualificationQuery,
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
const isQualified = ({ evaluated }: EvaluatedCandidate): boolean =>
  evaluated.length > 0 && evaluated.every(({ status }) => status === "APPLICABLE");
