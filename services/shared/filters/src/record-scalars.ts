import type { TimeContext } from "@scrip/rules";

import { type Operand } from "./condition.ts";
import type { Operator } from "./operators.ts";
import type { RecordValue, ValueType } from "./record.ts";
import { booleanOf, booleanText, numberOf, textOf } from "./scalars.ts";
import { caseless, compareNumbers, jsonText, plainNumber } from "./texts.ts";

export type ScalarCondition = {
  readonly name: string;
  readonly type: ValueType;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
};

/** Whether a value meets a condition. `null` meets only negative ones. */
export type ValueTest = (value: RecordValue, time: TimeContext) => boolean;

/**
 * The condition of `compileScalar` for values in memory. Undefined for operators that the type does
 * not have.
 */
export function scalarTest(condition: ScalarCondition): ValueTest | undefined {
  switch (condition.operator) {
    case "$in":
    case "$is":
      return equality(condition);
    case "$not_in":
    case "$is_not":
      return negated(equality(condition));
    case "$contains":
      return containment(condition);
    case "$not_contain":
      return negated(containment(condition));
    case "$starts_with":
      return matching(condition, (text, part) => text.startsWith(part));
    case "$ends_with":
      return matching(condition, (text, part) => text.endsWith(part));
    case "$more_than":
      return comparison(condition, (order) => order > 0);
    case "$less_than":
      return comparison(condition, (order) => order < 0);
    case "$more_than_equal":
      return comparison(condition, (order) => order >= 0);
    case "$less_than_equal":
      return comparison(condition, (order) => order <= 0);
    case "$count":
      return counting(condition, (order) => order === 0);
    case "$count_less":
      return counting(condition, (order) => order < 0);
    case "$count_more":
      return counting(condition, (order) => order > 0);
    default:
      return undefined;
  }
}

const negated = (test: ValueTest | undefined): ValueTest | undefined =>
  test && ((value, time) => !test(value, time));

function equality({ name, type, operands }: ScalarCondition): ValueTest {
  if (type === "number") {
    const numbers = operands.map((one) => numberOf(name, one));
    return (value) => {
      const number = numberText(value);
      return number !== null && numbers.some((one) => compareNumbers(number, one) === 0);
    };
  }
  if (type === "boolean") {
    const booleans = new Set<RecordValue>(operands.map((one) => booleanOf(name, one)));
    return (value) => booleans.has(value);
  }
  const texts = new Set<string | null>(operands.map(textOf));
  if (type === "array") {
    return (value) => Array.isArray(value) && value.some((one: unknown) => texts.has(String(one)));
  }
  const booleans = new Set(operands.map(booleanText));
  return (value) =>
    texts.has(jsonText(value)) || (typeof value === "boolean" && booleans.has(`${value}`));
}

function containment(condition: ScalarCondition): ValueTest | undefined {
  if (condition.type === "array") return equality(condition);
  const matched = matching(condition, (text, part) => text.includes(part));
  if (matched === undefined || condition.type !== "json") return matched;
  const texts = new Set<string | null>(condition.operands.map(textOf));
  return (value, time) =>
    Array.isArray(value)
      ? value.some((member: unknown) => texts.has(jsonText(member)))
      : matched(value, time);
}

function matching(
  { type, operands }: ScalarCondition,
  matches: (text: string, part: string) => boolean,
): ValueTest | undefined {
  if (type !== "text" && type !== "json") return undefined;
  const parts = operands.map((one) => caseless(textOf(one)));
  return (value) => {
    const text = jsonText(value);
    if (text === null) return false;
    const folded = caseless(text);
    return parts.some((part) => matches(folded, part));
  };
}

function comparison(
  { name, type, operands }: ScalarCondition,
  holds: (order: number) => boolean,
): ValueTest | undefined {
  if (type !== "number" && type !== "json") return undefined;
  const numbers = operands.map((one) => numberOf(name, one));
  return (value) => {
    const number = numberText(value);
    return number !== null && numbers.some((one) => holds(compareNumbers(number, one)));
  };
}

/** In JSON, digits in quotes are text, not a number. */
function numberText(value: RecordValue): string | null {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "number" ? plainNumber(value) : null;
}

function counting(
  { name, type, operands }: ScalarCondition,
  holds: (order: number) => boolean,
): ValueTest | undefined {
  if (type !== "number" && type !== "array" && type !== "json") return undefined;
  const counts = operands.map((one) => numberOf(name, one));
  const lengthOf = (value: RecordValue): string | null => {
    if (type === "number") return numberText(value);
    if (Array.isArray(value)) return String(value.length);
    return type === "array" ? "0" : null;
  };
  return (value) => {
    const length = lengthOf(value);
    return length !== null && counts.some((one) => holds(compareNumbers(length, one)));
  };
}
