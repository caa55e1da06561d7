import { type Answer, checkItems, checkLineValues } from "./check-items.ts";
import { traitsOf } from "./names.ts";
import type { RuleLine, RuleReader } from "./reader.ts";
import type { Rule } from "./rule.ts";

/** What a rule found in the lines of an order, for the next redeemable that has the same rule. */
const answers = new WeakMap<readonly RuleLine[], Map<Rule, Known>>();

type Known = { readonly moment: RuleReader["moment"]; readonly answer: Answer };

/** So few are looked at sooner than remembered. */
const FEW_LINES = 8;

/** Checks a rule that reads nothing but the lines, once for all who ask it of the same ones. */
export function checkLines(rule: Rule, reader: RuleReader): Answer {
  const { lines, moment } = reader;
  if (lines.length <= FEW_LINES) return check(rule, reader);
  const known = answers.get(lines) ?? new Map<Rule, Known>();
  answers.set(lines, known);
  const found = known.get(rule);
  if (found?.moment === moment) return found.answer;
  const answer = check(rule, reader);
  known.set(rule, { moment, answer });
  return answer;
}

const check = (rule: Rule, reader: RuleReader): Answer =>
  rule.name === "product.metadata" || traitsOf(rule.name).operand === "items"
    ? checkItems(rule, reader)
    : checkLineValues(rule, reader);
