import type { KnownValue } from "../formula/value.ts";
import type { Answer } from "./check-items.ts";
import { checkLines } from "./check-lines.ts";
import { evaluateLogic } from "./evaluate-logic.ts";
import type { Logic } from "./logic.ts";
import { meetsAll } from "./meets.ts";
import { type RuleName, traitsOf } from "./names.ts";
import type { RuleReader } from "./reader.ts";
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

/**
 * Checks a validation rule from left to right, no further than it takes to know. Names that are
 * omitted are taken to hold without being read.
 */
export function checkRule(
  rule: ValidationRule,
  reader: RuleReader,
  phase: CheckPhase,
  omitted: ReadonlySet<RuleName> = NOTHING_OMITTED,
): RuleOutcome {
  const checked: CheckedRule[] = [];
  const verdict = evaluateLogic(rule.logic, (number, isRequired) => {
    const one = ruleWith(number, rule);
    const isOmitted = omitted.has(one.name);
    const read = isOmitted ? answer(true, null) : checkOne(one, reader, phase);
    checked.push({ ...read, rule: one, isRequired, isOmitted });
    return read.passed;
  });
  if (verdict === null) return { rule, status: "pending", checked };
  return { rule, status: verdict ? "holds" : "violated", checked };
}

/** A numbered rule that fails, with what it read. */
export type FailingRule = Pick<CheckedRule, "rule" | "value" | "lacks" | "children">;

/**
 * The numbered rules that keep a validation rule from holding, wherever they stand in it. One that
 * fails where another is enough is none of them.
 */
export function failingRules(
  rule: ValidationRule,
  reader: RuleReader,
  phase: CheckPhase,
  omitted: ReadonlySet<RuleName> = NOTHING_OMITTED,
): readonly FailingRule[] {
  const failingIn = (logic: Logic): readonly FailingRule[] => {
    if (logic.kind === "rule") {
      const one = ruleWith(logic.number, rule);
      const read = omitted.has(one.name) ? answer(true, null) : checkOne(one, reader, phase);
      return read.passed === false ? [{ ...read, rule: one }] : [];
    }
    const parts = logic.parts.map(failingIn);
    const isEnough = logic.kind === "any" && parts.some((part) => part.length === 0);
    return isEnough ? [] : parts.flat();
  };
  return [...new Map(failingIn(rule.logic).map((failing) => [failing.rule, failing])).values()];
}

function ruleWith(number: number, { id, rules }: ValidationRule): Rule {
  const one = rules.get(number);
  if (one === undefined) throw new RangeError(`validation rule ${id} has no rule ${number}`);
  return one;
}

const NOTHING_OMITTED: ReadonlySet<RuleName> = new Set();

function checkOne(rule: Rule, reader: RuleReader, phase: CheckPhase): Answer {
  const { needs, operand, isAfterEffect } = traitsOf(rule.name);
  if (needs === "customer" && !reader.hasCustomer) return lacking("customer");
  if (needs === "order" && !reader.hasOrder) return lacking("order");
  if (isAfterEffect === true && phase === "before_effect") return answer(null, null);
  if (operand === "items") return checkLines(rule, reader);
  switch (rule.name) {
    case "product.metadata":
    case "order.items.price_any":
    case "order.items.price_each":
    case "order.items.metadata_any":
    case "order.items.metadata_each":
      return checkLines(rule, reader);
    default: {
      const value = reader.read(rule.name, rule.property);
      return answer(meetsAll(value, rule.conditions, reader.moment), value);
    }
  }
}

const answer = (passed: boolean | null, value: KnownValue | null): Answer => ({
  passed,
  value,
  lacks: null,
  children: [],
});

const lacking = (lacks: "customer" | "order"): Answer => ({ ...answer(false, null), lacks });
