import type { RuleOutcome, RuleReader } from "@scrip/rules";

import type { Bundles } from "../bundles/find-bundles.ts";
import type { EvaluationInput } from "../decision/evaluation.ts";
import type { Precondition } from "../eligibility/preconditions.ts";
import type { Redeemable } from "../input/redeemable.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { Rejection } from "../rejections/rejection.ts";

/** How far the evaluation of one redeemable came, for those who ask how it was decided. */
export type EvaluationLog = {
  readonly redeemable: Redeemable;
  readonly input: EvaluationInput;
  /** The gate that was closed. */
  readonly failedPrecondition: {
    readonly precondition: Precondition;
    readonly rejection: Rejection;
  } | null;
  readonly outcomes: readonly RuleOutcome[];
  /** What the rules read last; null until they were checked. */
  readonly ruleReader: RuleReader | null;
  /** null until they were looked for. */
  readonly bundles: Bundles | null;
  /** null until it was worked out. */
  readonly applied: ValueOutcome | null;
};

export const startEvaluationLog = (
  redeemable: Redeemable,
  facts: EvaluationInput,
): EvaluationLog => ({
  redeemable,
  input: facts,
  failedPrecondition: null,
  outcomes: [],
  ruleReader: null,
  bundles: null,
  applied: null,
});
