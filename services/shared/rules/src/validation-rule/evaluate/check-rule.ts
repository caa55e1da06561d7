import type { KnownValue } from "../../formula/value.ts";
import type { Logic } from "../model/logic.ts";
import { type RuleName, traitsOf } from "../model/rule-names.ts";
import type { RuleReader } from "../model/rule-reader.ts";
import type {
  CheckedRule,
  CheckPhase,
  FailingRule,
  RuleOutcome,
  RuleResult,
} from "../model/rule-result.ts";
import type { Rule, ValidationRule } from "../model/rule.ts";
import { checkLines } from "./check-lines.ts";
import { evaluateLogic } from "./evaluate-logic.ts";
import { meetsAll } from "./meets-conditions.ts";

/**
 * Evaluates a validation rule from left to right, until the result is certain. Omitted names are
 * assumed to hold and are not read.
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
    const read = isOmitted ? resultOf(true, null) : checkOne(one, reader, phase);
    checked.push({ ...read, rule: one, isRequired, isOmitted });
    return read.passed;
  });
  if (verdict === null) return { rule, status: "pending", checked };
  return { rule, status: verdict ? "holds" : "violated", checked };
}

/**
 * The numbered rules that prevent a validation rule from holding, at any depth. A failing rule is
 * left out where an alternative holds.
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
      const read = omitted.has(one.name) ? resultOf(true, null) : checkOne(one, reader, phase);
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

function checkOne(rule: Rule, reader: RuleReader, phase: CheckPhase): RuleResult {
  const { needs, operand, isAfterEffect } = traitsOf(rule.name);
  if (needs === "customer" && !reader.hasCustomer) return lacking("customer");
  if (needs === "order" && !reader.hasOrder) return lacking("order");
  if (isAfterEffect === true && phase === "before_effect") return resultOf(null, null);
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
      return resultOf(meetsAll(value, rule.conditions, reader.time), value);
    }
  }
}

const resultOf = (passed: boolean | null, value: KnownValue | null): RuleResult => ({
  passed,
  value,
  lacks: null,
  children: [],
});

const lacking = (lacks: "customer" | "order"): RuleResult => ({ ...resultOf(false, null), lacks });
