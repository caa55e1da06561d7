import type { RuleOutcome, RuleReader } from "@scrip/rules";

import type { Bundles } from "../bundles/find-bundles.ts";
import type { EvaluationInput } from "../decision/evaluation.ts";
import type { Precondition } from "../eligibility/preconditions.ts";
import type { Redeemable } from "../input/redeemable.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { Rejection } from "../rejections/rejection.ts";

/** The steps of one evaluation, from which explanations and hints are built on request. */
export type EvaluationLog = {
  readonly redeemable: Redeemable;
  readonly input: EvaluationInput;
  readonly failedPrecondition: {
    readonly precondition: Precondition;
    readonly rejection: Rejection;
  } | null;
  readonly outcomes: readonly RuleOutcome[];
  /** The operands of the last rule evaluation; null before it. */
  readonly ruleReader: RuleReader | null;
  /** null until bundles are counted. */
  readonly bundles: Bundles | null;
  /** null until the value is applied. */
  readonly applied: ValueOutcome | null;
};

export const startEvaluationLog = (
  redeemable: Redeemable,
  input: EvaluationInput,
): EvaluationLog => ({
  redeemable,
  input,
  failedPrecondition: null,
  outcomes: [],
  ruleReader: null,
  bundles: null,
  applied: null,
});
