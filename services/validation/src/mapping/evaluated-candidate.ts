import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import type { OrderFigures } from "../domain/order/order-figures.ts";
import type { Candidate } from "../domain/qualification/candidate.ts";
import type { RankedPageCursor } from "../domain/qualification/page-cursor.ts";
import type { DecisionContext } from "./decision-context.ts";

/** A candidate that was evaluated alone, with the data to build its response from. */
export type EvaluatedCandidate = {
  readonly candidate: Candidate;
  readonly evaluated: readonly EvaluatedRedeemable[];
  readonly order: OrderFigures | null;
  readonly context: DecisionContext;
  readonly cursor: RankedPageCursor;
};

export type QualificationPage = {
  readonly page: readonly EvaluatedCandidate[];
  /** Candidates that do not qualify, newest first. */
  readonly unqualified: readonly EvaluatedCandidate[];
  /** Cursor of the next page; null after the last one. */
  readonly nextCursor: string | null;
};
