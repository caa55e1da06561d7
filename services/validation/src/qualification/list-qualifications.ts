import { type Call, runInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoriesOf } from "../domain/evaluate.ts";
import type { Redeemable } from "../domain/input/facts.ts";
import { subjectOf } from "../domain/input/subject.ts";
import { type Candidate, placeOf } from "../domain/qualification/candidate.ts";
import { type Place, type RankedPlace, placeText } from "../domain/qualification/page-cursor.ts";
import { concernsProducts } from "../domain/qualification/product-relevance.ts";
import type { Scenario } from "../domain/qualification/qualification-scenario.ts";
import { endOfPage, rankDeals, type SortingRule } from "../domain/qualification/ranking.ts";
import { type CandidateSource, loadNextCandidates, WINDOW } from "../loading/candidates.ts";
import { loadDecisionContext } from "../loading/decision-context.ts";
import { type LoadedCandidate, resolvedCandidates } from "../mapping/candidate.ts";
import type { RequestContext, DecisionContext } from "../mapping/decision-context.ts";
import type { EvaluatedCandidate, QualificationPage } from "../mapping/evaluated-candidate.ts";
import { type Decided, decideStepwise } from "../validation/decide.ts";

export type QualificationQuery = {
  readonly circumstances: RequestContext;
  readonly scenario: Scenario;
  readonly source: CandidateSource;
  readonly matches: (candidate: Candidate) => boolean;
  readonly sorting: SortingRule;
  readonly after: Place | RankedPlace | null;
  readonly limit: number;
};

/** One request looks at so many candidates at most, window by window. */
const MAX_WINDOWS = 1_000 / WINDOW;

export const listQualifications = (
  deps: Deps,
  call: Call,
  one: QualificationQuery,
): Promise<QualificationPage> =>
  one.sorting === "DEFAULT"
    ? listNewest(deps, call, one)
    : listRanked(deps, call, one, one.sorting);

/** Looks on until the page is full, and for one more, which tells that there is another page. */
async function listNewest(
  deps: Deps,
  call: Call,
  one: QualificationQuery,
): Promise<QualificationPage> {
  const found: EvaluatedCandidate[] = [];
  const missed: EvaluatedCandidate[] = [];
  let next: Place | null = null;
  for await (const window of evaluateWindows(deps, call, one, one.after)) {
    found.push(...window.qualified);
    missed.push(...window.missed);
    next = window.next;
    if (found.length > one.limit) break;
  }
  const page = found.slice(0, one.limit);
  const [last, following] = [page.at(-1), found[one.limit]];
  const end = last && following ? endOfPage(last.place, following.place) : next;
  return { page, missed, more: end && placeText(withoutAmount(end)) };
}

/** Ranks everything that one request looks at; a later page goes on in the same ranking. */
async function listRanked(
  deps: Deps,
  call: Call,
  one: QualificationQuery,
  rule: Exclude<SortingRule, "DEFAULT">,
): Promise<QualificationPage> {
  const after = one.after !== null && "amount" in one.after ? one.after : null;
  const ranking = { rule, after, limit: one.limit + 1 };
  const missed: EvaluatedCandidate[] = [];
  let best: readonly EvaluatedCandidate[] = [];
  for await (const window of evaluateWindows(deps, call, one, after === null ? one.after : null)) {
    best = rankDeals([...best, ...window.qualified], ranking);
    missed.push(...window.missed);
  }
  const page = best.slice(0, one.limit);
  const last = page.at(-1);
  return { page, missed, more: last && best.length > one.limit ? placeText(last.place) : null };
}

const withoutAmount = ({ at, tail }: Place): Place => ({ at, tail });

type EvaluatedWindow = {
  readonly qualified: readonly EvaluatedCandidate[];
  readonly missed: readonly EvaluatedCandidate[];
  readonly next: Place | null;
};

async function* evaluateWindows(
  deps: Deps,
  call: Call,
  one: QualificationQuery,
  start: Place | null,
): AsyncGenerator<EvaluatedWindow, void> {
  let after = start;
  for (let count = 0; count < MAX_WINDOWS; count += 1) {
    const { found, next } = await loadNextCandidates(deps, call, one.source, after);
    const judgements = found.length === 0 ? [] : await evaluateWindow(deps, call, one, found);
    const qualifies = judgements.map((each) => isQualified(each));
    yield {
      qualified: judgements.filter((_, position) => qualifies[position]),
      missed: judgements.filter((_, position) => !qualifies[position]),
      next,
    };
    if (next === null) return;
    after = next;
  }
}

async function evaluateWindow(
  deps: Deps,
  call: Call,
  one: QualificationQuery,
  found: readonly LoadedCandidate[],
): Promise<readonly EvaluatedCandidate[]> {
  const named = resolvedCandidates(one.source, found);
  const gathered = await loadDecisionContext(deps, call, one.circumstances, named);
  return runInterleaved(evaluateEach(one, found, gathered), call.deadline);
}

/** Decides on each candidate by itself: what one gives, another does not see. */
function* evaluateEach(
  { scenario, matches }: QualificationQuery,
  found: readonly LoadedCandidate[],
  gathered: DecisionContext,
): Generator<void, readonly EvaluatedCandidate[]> {
  const { request } = gathered;
  const byId = new Map(request.redeemables.map((each) => [keyOf(each), each]));
  const cart = { lines: request.order?.lines ?? [], catalogue: request.catalogue };
  const concerns = (redeemable: Redeemable): boolean => {
    const subject = subjectOf(redeemable);
    return subject !== null && concernsProducts(subject, scenario.products, cart);
  };
  const judged: EvaluatedCandidate[] = [];
  for (const { candidate, tierIds } of found) {
    const keys =
      candidate.object === "voucher" ? [`voucher ${candidate.id}`] : tierIds.map(tierKey);
    const redeemables = keys.flatMap((key) => byId.get(key) ?? []);
    const own = redeemables.flatMap(categoriesOf).map(({ id }) => id);
    const categoryIds = [...new Set([...candidate.categoryIds, ...own])];
    const isWanted = matches({ ...candidate, categoryIds }) && redeemables.some(concerns);
    if (!isWanted) continue;
    if (judged.length > 0) yield;
    const decision = yield* decideStepwise({ ...request, redeemables });
    judged.push(evaluatedCandidate(candidate, decision, gathered));
  }
  return judged;
}

const tierKey = (id: string): string => `promotion_tier ${id}`;
const keyOf = ({ object, id }: Redeemable): string => `${object} ${id}`;

function evaluatedCandidate(
  candidate: Candidate,
  decision: Decided,
  gathered: DecisionContext,
): EvaluatedCandidate {
  const { redeemables: judged, order } = decision;
  const amount = order?.totalAppliedDiscountAmount ?? 0n;
  return { candidate, judged, order, gathered, place: { ...placeOf(candidate), amount } };
}

/** Of a stack every tier must apply. */
const isQualified = ({ judged }: EvaluatedCandidate): boolean =>
  judged.length > 0 && judged.every(({ status }) => status === "APPLICABLE");
