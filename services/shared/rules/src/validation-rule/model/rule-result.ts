import type { KnownValue } from "../../formula/value.ts";
import type { Rule, ValidationRule } from "./rule.ts";

/** Whether the effect of the redeemable is worked out already. */
export type CheckPhase = "before_effect" | "after_effect";

/** A numbered rule that was looked at, with what it read. */
export type CheckedRule = {
  readonly rule: Rule;
  /** null: only the effect will tell. */
  readonly passed: boolean | null;
  /** What was compared; of items, the positions of the lines that matched. */
  readonly value: KnownValue | null;
  /** What it needed and did not have. */
  readonly lacks: "customer" | "order" | null;
  /** True when all fails where this one fails, whatever the others say. */
  readonly isRequired: boolean;
  /** True when it was not asked, and taken to hold. */
  readonly isOmitted: boolean;
  readonly children: readonly CheckedRule[];
};

export type RuleOutcome = {
  readonly rule: ValidationRule;
  /** Pending: to be checked again when the effect is worked out. */
  readonly status: "holds" | "violated" | "pending";
  /** In the order in which they were looked at; what could not matter any more is left out. */
  readonly checked: readonly CheckedRule[];
};

/** What the check of one numbered rule finds. */
export type RuleResult = Pick<CheckedRule, "passed" | "value" | "lacks" | "children">;

/** A numbered rule that fails, with the value it read. */
export type FailingRule = Pick<CheckedRule, "rule" | "value" | "lacks" | "children">;
