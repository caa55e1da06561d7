import type { RuleOutcome, RuleReader } from "@scrip/rules";

import type { Bundles } from "../bundles/find-bundles.ts";
import type { EvaluationFacts } from "../decision/evaluation.ts";
import type { Gate } from "../eligibility/preconditions.ts";
import type { Redeemable } from "../input/facts.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { Refused } from "../rejections/rejection.ts";

/** How far the evaluation of one redeemable came, for those who ask how it was decided. */
export type Course = {
  readonly redeemable: Redeemable;
  readonly facts: EvaluationFacts;
  /** The gate that was closed. */
  readonly closed: { readonly gate: Gate; readonly refusal: Refused } | null;
  readonly outcomes: readonly RuleOutcome[];
  /** What the rules read last; null until they were checked. */
  readonly reader: RuleReader | null;
  /** null until they were looked for. */
  readonly bundles: Bundles | null;
  /** null until it was worked out. */
  readonly applied: ValueOutcome | null;
};

export const startOfCourse = (redeemable: Redeemable, facts: EvaluationFacts): Course => ({
  redeemable,
  facts,
  closed: null,
  outcomes: [],
  reader: null,
  bundles: null,
  applied: null,
});
