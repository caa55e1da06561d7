import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type PageCursor,
  type RankedPageCursor,
  formatPageCursor,
} from "../domain/qualification/page-cursor.ts";
import { pageEnd, rankByDiscount, type SortingRule } from "../domain/qualification/ranking.ts";
import type { EvaluatedCandidate, QualificationPage } from "../mapping/evaluated-candidate.ts";
import { evaluateWindows, type SourceEvaluation } from "./evaluate-candidates.ts";

export type QualificationQuery = SourceEvaluation & {
  readonly sorting: SortingRule;
  readonly after: PageCursor | RankedPageCursor | null;
  readonly limit: number;
};

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
