import type { JudgedRedeemable, OrderFigures } from "../domain/decision/decision.ts";
import type { Candidate } from "../domain/qualification/candidate.ts";
import type { RankedPlace } from "../domain/qualification/page-cursor.ts";
import type { DecisionContext } from "./decision-context.ts";

/** A candidate that was decided on by itself, with what its answer is written from. */
export type EvaluatedCandidate = {
  readonly candidate: Candidate;
  readonly judged: readonly JudgedRedeemable[];
  readonly order: OrderFigures | null;
  readonly gathered: DecisionContext;
  readonly place: RankedPlace;
};

export type QualificationPage = {
  readonly page: readonly EvaluatedCandidate[];
  /** What does not qualify, newest first. */
  readonly missed: readonly EvaluatedCandidate[];
  /** Where the next page begins; null after the last one. */
  readonly more: string | null;
};
