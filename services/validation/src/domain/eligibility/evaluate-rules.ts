import {
  type CheckPhase,
  type CheckedRule,
  type RuleClass,
  type RuleOutcome,
  type RuleReader,
  type ValidationRule,
  checkRule,
  traitsOf,
} from "@scrip/rules";

import type { CountGuard } from "../counts/count-guard.ts";
import { countIncrement } from "../counts/counts.ts";
import { type CountContext, ruleCount } from "../counts/rule-counts.ts";
import type { IgnoredConditions } from "../decision/decision-request.ts";
import type { Subject } from "../input/subject.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { RuleEffect } from "./rule-operands.ts";

export type RulesResult = {
  readonly outcomes: readonly RuleOutcome[];
  /** null if no rule is violated. */
  readonly rejection: Rejection | null;
};

const NO_RULES: RulesResult = { outcomes: [], rejection: null };

/**
 * Evaluates every rule, so that the rejection lists all that are violated.
 * docs/validation-rules.md#logic
 */
export function evaluateRules(
  rules: readonly ValidationRule[],
  subject: Subject,
  reader: RuleReader,
  { phase, rules: ignoredRules }: { readonly phase: CheckPhase } & Pick<IgnoredConditions, "rules">,
): RulesResult {
  if (rules.length === 0) return NO_RULES;
  const outcomes = distinctRules(rules).map((rule) => checkRule(rule, reader, phase, ignoredRules));
  const violated = outcomes.filter(({ status }) => status === "violated");
  const [first] = violated;
  if (first === undefined) return { outcomes, rejection: null };
  const failing = failingRule(first);
  if (failing?.lacks === "customer") return { outcomes, rejection: missingCustomer };
  if (failing?.lacks === "order") return { outcomes, rejection: missingAmount };
  const rejection = rulesRejection(subject, {
    ruleIds: violated.map(({ rule }) => rule.id),
    class: failing === undefined ? "redemption" : traitsOf(failing.rule.name).class,
    message: messageOf(failing) ?? first.rule.message,
  });
  return { outcomes, rejection };
}

/** A rule can be assigned to a voucher and to its campaign. */
const distinctRules = (rules: readonly ValidationRule[]): readonly ValidationRule[] =>
  rules.length === 1 ? rules : [...new Map(rules.map((rule) => [rule.id, rule])).values()];

const failingRule = ({ checked }: RuleOutcome): CheckedRule | undefined =>
  checked.find(({ passed }) => passed === false);

/** The message of a sub-rule is more specific than that of its rule. */
function messageOf(failing: CheckedRule | undefined): string | null {
  if (failing === undefined) return null;
  const child = failing.children.find(({ passed }) => passed === false);
  return child?.rule.message ?? failing.rule.message;
}

const missingCustomer: Rejection = {
  key: "missing_customer",
  details: "Customer is required to validate rules",
};

const missingAmount: Rejection = {
  key: "missing_amount",
  details: "Order is required to validate rules",
};

export type RuleViolation = {
  readonly ruleIds: readonly string[];
  /** Class of the first rule that failed. */
  readonly class: RuleClass;
  /** The error message configured by the merchant. */
  readonly message: string | null;
};

/** docs/validation-rules.md#rejections */
export const rulesRejection = (subject: Subject, violation: RuleViolation): Rejection => ({
  key: `${violation.class}_rules_violated`,
  details: `${subjectLabel(subject)} cannot be redeemed because of violated validation rules: ${violation.ruleIds.join(", ")}`,
  ...(violation.message !== null && { customMessage: violation.message }),
});

function subjectLabel(subject: Subject): string {
  if (subject.kind === "promotion_tier") return "Promotion Tier";
  switch (subject.snapshot.value.type) {
    case "DISCOUNT_VOUCHER":
      return "Discount Coupon";
    case "GIFT_VOUCHER":
      return "Gift Card";
    case "LOYALTY_CARD":
      return "Loyalty Card";
    default:
      return subject.snapshot.value satisfies never;
  }
}

/**
 * A guard for every count that a passed rule relies on. If a required rule's guard fails at the
 * commit, the redemption is rejected; if an alternative of the rule's logic could still pass, the
 * request is decided again.
 */
export function ruleCountGuards(
  outcomes: readonly RuleOutcome[],
  subject: Subject,
  { usage }: Pick<RuleEffect, "usage">,
  context: CountContext,
): readonly CountGuard[] {
  return outcomes.flatMap(({ rule, checked }) =>
    checked.flatMap((one): CountGuard[] => {
      const isReliedOn = one.passed === true && !one.isOmitted;
      const count = isReliedOn ? ruleCount(one.rule.name, subject, context) : null;
      if (count === null) return [];
      const rejection = rulesRejection(subject, {
        ruleIds: [rule.id],
        class: traitsOf(one.rule.name).class,
        message: one.rule.message ?? rule.message,
      });
      return [
        {
          count,
          add: countIncrement(usage, count),
          conditions: one.rule.definition,
          rejection: one.isRequired ? rejection : null,
        },
      ];
    }),
  );
}
