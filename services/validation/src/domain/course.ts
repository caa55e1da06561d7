import type { RuleOutcome } from "@scrip/rules";

import type { Bundles } from "./bundle.ts";
import type { Redeemable } from "./facts.ts";
import type { Gate } from "./gates.ts";
import type { Refused } from "./refusal.ts";
import type { RuleFacts } from "./rule-reader.ts";
import type { Subject } from "./subject.ts";
import type { ValueOutcome } from "./value.ts";

/** How far the evaluation of one redeemable came, for those who ask how it was decided. */
export type Course = {
  readonly redeemable: Redeemable;
  readonly subject: Subject;
  readonly facts: RuleFacts;
  /** The gate that was closed. */
  readonly closed: { readonly gate: Gate; readonly refusal: Refused } | null;
  readonly outcomes: readonly RuleOutcome[];
  /** null until they were looked for. */
  readonly bundles: Bundles | null;
  /** null until it was worked out. */
  readonly applied: ValueOutcome | null;
};

export const startOfCourse = (
  redeemable: Redeemable,
  subject: Subject,
  facts: RuleFacts,
): Course => ({
  redeemable,
  subject,
  facts,
  closed: null,
  outcomes: [],
  bundles: null,
  applied: null,
});
