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

import { addedBy } from "../counts/counts.ts";
import { type CountContext, countOfRule } from "../counts/rule-counts.ts";
import type { Omissions } from "../decide.ts";
import type { Guard } from "../decision/decision.ts";
import type { Subject } from "../input/subject.ts";
import type { Refused } from "../rejections/rejection.ts";
import type { RuleEffect } from "./rule-operands.ts";

export type CheckedRules = {
  readonly outcomes: readonly RuleOutcome[];
  /** Why the redeemable is refused, if it is. */
  readonly refusal: Refused | null;
};

const NOTHING_CHECKED: CheckedRules = { outcomes: [], refusal: null };

/** Checks every rule, so that all that are violated can be named. */
export function checkRules(
  rules: readonly ValidationRule[],
  subject: Subject,
  reader: RuleReader,
  { phase, rules: omitted }: { readonly phase: CheckPhase } & Pick<Omissions, "rules">,
): CheckedRules {
  if (rules.length === 0) return NOTHING_CHECKED;
  const outcomes = distinct(rules).map((rule) => checkRule(rule, reader, phase, omitted));
  const violated = outcomes.filter(({ status }) => status === "violated");
  const [first] = violated;
  if (first === undefined) return { outcomes, refusal: null };
  const failing = failingRule(first);
  if (failing?.lacks === "customer") return { outcomes, refusal: missingCustomer };
  if (failing?.lacks === "order") return { outcomes, refusal: missingAmount };
  const refusal = refusedByRules(subject, {
    ruleIds: violated.map(({ rule }) => rule.id),
    class: failing === undefined ? "redemption" : traitsOf(failing.rule.name).class,
    message: messageOf(failing) ?? first.rule.message,
  });
  return { outcomes, refusal };
}

/** One rule may be attached to a voucher and to its campaign as well. */
const distinct = (rules: readonly ValidationRule[]): readonly ValidationRule[] =>
  rules.length === 1 ? rules : [...new Map(rules.map((rule) => [rule.id, rule])).values()];

const failingRule = ({ checked }: RuleOutcome): CheckedRule | undefined =>
  checked.find(({ passed }) => passed === false);

/** What a sub-rule says about itself is more to the point than what its rule says. */
function messageOf(failing: CheckedRule | undefined): string | null {
  if (failing === undefined) return null;
  const child = failing.children.find(({ passed }) => passed === false);
  return child?.rule.message ?? failing.rule.message;
}

const missingCustomer: Refused = {
  key: "missing_customer",
  details: "Customer is required to validate rules",
};

const missingAmount: Refused = {
  key: "missing_amount",
  details: "Order is required to validate rules",
};

export type Violation = {
  readonly ruleIds: readonly string[];
  /** Of the first rule that failed. */
  readonly class: RuleClass;
  /** In the merchant's own words. */
  readonly message: string | null;
};

/** spec/validation-and-redemption.md §3.6 */
export const refusedByRules = (subject: Subject, violation: Violation): Refused => ({
  key: `${violation.class}_rules_violated`,
  details: `${labelOf(subject)} cannot be redeemed because of violated validation rules: ${violation.ruleIds.join(", ")}`,
  ...(violation.message !== null && { customMessage: violation.message }),
});

function labelOf(subject: Subject): string {
  if (subject.kind === "promotion_tier") return "Promotion Tier";
  switch (subject.facts.value.type) {
    case "DISCOUNT_VOUCHER":
      return "Discount Coupon";
    case "GIFT_VOUCHER":
      return "Gift Card";
    case "LOYALTY_CARD":
      return "Loyalty Card";
    default:
      return subject.facts.value satisfies never;
  }
}

/**
 * A guard for every count that a rule held by. One that all depends on is refused when it is broken
 * in between; where another rule might hold instead, it is decided again.
 */
export function countGuards(
  outcomes: readonly RuleOutcome[],
  subject: Subject,
  { use }: Pick<RuleEffect, "use">,
  context: CountContext,
): readonly Guard[] {
  return outcomes.flatMap(({ rule, checked }) =>
    checked.flatMap((one): Guard[] => {
      const isReliedOn = one.passed === true && !one.isOmitted;
      const count = isReliedOn ? countOfRule(one.rule.name, subject, context) : null;
      if (count === null) return [];
      const refusal = refusedByRules(subject, {
        ruleIds: [rule.id],
        class: traitsOf(one.rule.name).class,
        message: one.rule.message ?? rule.message,
      });
      return [
        {
          kind: "count",
          count,
          add: addedBy(use, count),
          conditions: one.rule.definition,
          refusal: one.isRequired ? refusal : null,
        },
      ];
    }),
  );
}
