import { type KnownValue, type Metadata, booleanValue, countValue } from "../../formula/value.ts";
import type { Condition } from "../model/condition.ts";
import type { RuleLine, RuleReader } from "../model/rule-reader.ts";
import type { CheckedRule, RuleResult } from "../model/rule-result.ts";
import type { Rule, RuleGroup } from "../model/rule.ts";
import { evaluateLogic } from "./evaluate-logic.ts";
import { meetsAll } from "./meets-conditions.ts";
import { metadataOperand } from "./operands.ts";
import { matchesAny } from "./value-set.ts";

/** Prices or metadata of any line, or of each line; false for an order without lines. */
export function checkLineValues(rule: Rule, { lines, time }: RuleReader): RuleResult {
  const isPrice = rule.name === "order.items.price_any" || rule.name === "order.items.price_each";
  const isAny = rule.name === "order.items.price_any" || rule.name === "order.items.metadata_any";
  const values = lines.map((line) => (isPrice ? priceOf(line) : metadataOf(line.metadata, rule)));
  const isMet = (value: KnownValue | null): boolean => meetsAll(value, rule.conditions, time);
  return {
    passed: isAny ? values.some(isMet) : values.length > 0 && values.every(isMet),
    value: { kind: "list", values: values.filter((value) => value !== null) },
    lacks: null,
    children: [],
  };
}

/** Evaluates which lines match, and the sub-rules on those that match. */
export function checkItems(rule: Rule, reader: RuleReader): RuleResult {
  const { passed, matched } = match(rule, reader);
  const { verdict, children } =
    rule.children === null || matched.length === 0
      ? { verdict: true, children: [] }
      : checkChildren(rule, rule.children, matched, reader);
  return {
    // No line may match while the sub-rules hold.
    passed: rule.name === "order.items.none" ? !(passed && verdict) : passed && verdict,
    value: { kind: "list", values: matched.map((position) => countValue(BigInt(position))) },
    lacks: null,
    children,
  };
}

/** The positions of the matching lines, and whether they satisfy the rule. */
type Match = { readonly passed: boolean; readonly matched: readonly number[] };

function match(rule: Rule, { lines, time }: RuleReader): Match {
  const { conditions } = rule;
  switch (rule.name) {
    case "order.items.every": {
      const matched = positions(lines, (line) => fits(line, conditions));
      return { passed: lines.length > 0 && matched.length === lines.length, matched };
    }
    case "order.items.cheapest":
      return matchExtreme(rule, lines, -1n);
    case "order.items.most_expensive":
      return matchExtreme(rule, lines, 1n);
    case "product.metadata":
      return anyOf(
        positions(lines, (line) =>
          meetsAll(metadataOf(line.productMetadata, rule), conditions, time),
        ),
      );
    case "product.id":
    case "sku.id":
      return matchOldForm(rule, lines);
    default:
      return anyOf(positions(lines, (line) => fits(line, conditions)));
  }
}

function positions(lines: readonly RuleLine[], isWanted: (line: RuleLine) => boolean): number[] {
  const found: number[] = [];
  for (const [position, line] of lines.entries()) if (isWanted(line)) found.push(position);
  return found;
}

const anyOf = (matched: readonly number[]): Match => ({ passed: matched.length > 0, matched });

/** Selects the lines of the pool at the extreme price, of which at least one must match. */
function matchExtreme({ conditions }: Rule, lines: readonly RuleLine[], sign: 1n | -1n): Match {
  const [from, others] = [conditions.filter(isFrom), conditions.filter((one) => !isFrom(one))];
  let extreme: bigint | null = null;
  for (const line of lines) {
    const { price } = line;
    if (price === null || !fits(line, from)) continue;
    if (extreme === null || price * sign > extreme * sign) extreme = price;
  }
  if (extreme === null) return anyOf([]);
  return anyOf(
    positions(lines, (line) => line.price === extreme && fits(line, from) && fits(line, others)),
  );
}

const isFrom = (condition: Condition): boolean => condition.operator === "$from";

/** In the older rule names, negative operators apply to the whole order. */
function matchOldForm({ conditions }: Rule, lines: readonly RuleLine[]): Match {
  const [excluding, including] = [conditions.filter(isNegative), conditions.filter(isPositive)];
  const matched = positions(lines, (line) => fits(line, including));
  const isFree = lines.every((line) => fits(line, excluding));
  return { passed: isFree && (including.length === 0 || matched.length > 0), matched };
}

const isNegative = ({ operator }: Condition): boolean =>
  operator === "$is_not" || operator === "$not_in";

const isPositive = (condition: Condition): boolean => !isNegative(condition);

const fits = (line: RuleLine, conditions: readonly Condition[]): boolean =>
  conditions.every((condition) => {
    if (condition.kind !== "items") return false;
    const isListed = matchesAny(condition.items, line);
    return isNegative(condition) ? !isListed : isListed;
  });

function checkChildren(
  parent: Rule,
  group: RuleGroup,
  matched: readonly number[],
  reader: RuleReader,
): { readonly verdict: boolean; readonly children: readonly CheckedRule[] } {
  const children: CheckedRule[] = [];
  const verdict = evaluateLogic(group.logic, (number, isRequired) => {
    const rule = group.rules.get(number);
    if (rule === undefined) throw new RangeError(`rule '${parent.name}' has no sub-rule ${number}`);
    const { passed, value } = checkChild(parent, rule, linesAt(matched, reader), reader);
    children.push({ ...NOTHING_MORE, rule, passed, value, isRequired });
    return passed;
  });
  return { verdict: verdict === true, children };
}

const NOTHING_MORE = { lacks: null, isOmitted: false, children: [] } as const;

const linesAt = (places: readonly number[], { lines }: RuleReader): readonly RuleLine[] =>
  places.flatMap((position) => lines[position] ?? []);

function checkChild(
  parent: Rule,
  rule: Rule,
  matched: readonly RuleLine[],
  { lines, time }: RuleReader,
): { readonly passed: boolean; readonly value: KnownValue | null } {
  const isMet = (value: KnownValue | null): boolean => meetsAll(value, rule.conditions, time);
  const summed = (amountOf: (line: RuleLine) => bigint) => {
    const value = countValue(matched.reduce((sum, line) => sum + amountOf(line), 0n));
    return { passed: isMet(value), value };
  };
  const quantified = (valueOf: (line: RuleLine) => KnownValue | null) => {
    const values = matched.map(valueOf);
    return {
      passed: asksEach(parent) ? values.every(isMet) : values.some(isMet),
      value: { kind: "list", values: values.filter((value) => value !== null) } as const,
    };
  };
  switch (rule.name) {
    case "order.items.aggregated_quantity":
    case "product.metadata.aggregated_quantity":
      return summed(({ quantity }) => quantity);
    case "order.items.aggregated_amount":
    case "product.metadata.aggregated_amount":
      return summed(({ amount }) => amount);
    case "order.items.quantity":
    case "product.quantity":
    case "sku.quantity":
      return quantified(({ quantity }) => countValue(quantity));
    case "order.items.price":
    case "product.price":
    case "sku.price":
      return quantified(priceOf);
    case "order.items.metadata":
      return quantified((line) => metadataOf(line.metadata, rule));
    case "product.metadata.match_all": {
      const value = booleanValue(matched.length === lines.length);
      return { passed: value.value || !isMet(booleanValue(true)), value };
    }
    // Marks a product as discountable; the scope of the effect determines the products.
    case "product.discount_applicable":
    case "sku.discount_applicable":
    case "product.metadata.discount_applicable":
      return { passed: true, value: null };
    default:
      throw new RangeError(`rule '${rule.name}' is no sub-rule`);
  }
}

const asksEach = ({ name }: Rule): boolean =>
  name === "order.items.every" ||
  name === "order.items.cheapest" ||
  name === "order.items.most_expensive";

const priceOf = ({ price }: RuleLine): KnownValue | null =>
  price === null ? null : countValue(price);

const metadataOf = (metadata: Metadata, { property }: Rule): KnownValue | null =>
  property === null ? null : metadataOperand(metadata, property);
