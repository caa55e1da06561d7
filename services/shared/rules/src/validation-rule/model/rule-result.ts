import type { KnownValue } from "../../formula/value.ts";
import type { Rule, ValidationRule } from "./rule.ts";

/** Whether the effect of the redeemable is already calculated. */
export type CheckPhase = "before_effect" | "after_effect";

/** A numbered rule that was evaluated, with the value it read. */
export type CheckedRule = {
  readonly rule: Rule;
  /** null: known only after the effect is calculated. */
  readonly passed: boolean | null;
  /** The compared value; for items, the positions of the matching lines. */
  readonly value: KnownValue | null;
  /** What the request needed to contain and did not. */
  readonly lacks: "customer" | "order" | null;
  /** True when the whole expression fails if this rule fails. */
  readonly isRequired: boolean;
  /** True when the rule was skipped and assumed to hold. */
  readonly isOmitted: boolean;
  readonly children: readonly CheckedRule[];
};

export type RuleOutcome = {
  readonly rule: ValidationRule;
  /** Pending: to be evaluated again after the effect is calculated. */
  readonly status: "holds" | "violated" | "pending";
  /** In the order of evaluation, without rules that could not matter any more. */
  readonly checked: readonly CheckedRule[];
};

/** The result of one numbered rule. */
export type RuleResult = Pick<CheckedRule, "passed" | "value" | "lacks" | "children">;

/** A numbered rule that fails, with the value it read. */
export type FailingRule = Pick<CheckedRule, "rule" | "value" | "lacks" | "children">;
