import { traitsOf } from "../model/rule-names.ts";
import type { RuleLine, RuleReader } from "../model/rule-reader.ts";
import type { RuleResult } from "../model/rule-result.ts";
import type { Rule } from "../model/rule.ts";
import { checkItems, checkLineValues } from "./check-items.ts";

/** Results by the lines of an order, for the next redeemable that has the same rule. */
const cache = new WeakMap<readonly RuleLine[], Map<Rule, Cached>>();

type Cached = { readonly time: RuleReader["time"]; readonly result: RuleResult };

/** A check of so few lines costs less than the cache. */
const FEW_LINES = 8;

/** Checks a rule that depends on the lines only, once per list of lines. */
export function checkLines(rule: Rule, reader: RuleReader): RuleResult {
  const { lines, time } = reader;
  if (lines.length <= FEW_LINES) return check(rule, reader);
  const results = cache.get(lines) ?? new Map<Rule, Cached>();
  cache.set(lines, results);
  const cached = results.get(rule);
  if (cached?.time === time) return cached.result;
  const result = check(rule, reader);
  results.set(rule, { time, result });
  return result;
}

const check = (rule: Rule, reader: RuleReader): RuleResult =>
  rule.name === "product.metadata" || traitsOf(rule.name).operand === "items"
    ? checkItems(rule, reader)
    : checkLineValues(rule, reader);
