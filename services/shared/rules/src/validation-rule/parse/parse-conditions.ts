import { isDateText } from "../../formula/dates.ts";
import type { Metadata, MetadataValue } from "../../formula/value.ts";
import { fromScalar, isList } from "../../formula/value.ts";
import type { KnownValue } from "../../formula/value.ts";
import type { Condition } from "../model/condition.ts";
import type { ItemObject } from "../model/item-ref.ts";
import { type RuleName, type RuleOperand, traitsOf } from "../model/rule-names.ts";
import { parseItems } from "./parse-items.ts";
import { parseWindow } from "./parse-window.ts";
import { readDigits } from "./read-digits.ts";
import { Violation } from "./violation.ts";

const MAX_OPERANDS = 500;
const MAX_TEXT = 1000;
const MAX_DAYS = 36_500;

/** Aliases of operators. */
const ALIASES: Readonly<Record<string, string>> = {
  $greater_than: "$more_than",
  $greater_than_or_equal: "$more_than_or_equal",
};

/** Parses the operators of a rule with their operands, for the type of its name. */
export function parseConditions(name: RuleName, conditions: Metadata): readonly Condition[] {
  const entries = Object.entries(conditions);
  if (entries.length === 0) throw new Violation(`Rule '${name}' must have 'conditions'`);
  return entries.map(([sent, operands]) => {
    if (!isList(operands)) {
      throw new Violation(`Rule '${name}': operator '${sent}' must have an array of operands`);
    }
    if (operands.length === 0) {
      throw new Violation(`Rule '${name}': operator '${sent}' must have an operand`);
    }
    if (operands.length > MAX_OPERANDS) {
      throw new Violation(
        `Rule '${name}': operator '${sent}' must NOT have more than ${MAX_OPERANDS} operands`,
      );
    }
    return parseCondition({ name, sent, operator: ALIASES[sent] ?? sent, operands });
  });
}

type OperatorInput = {
  readonly name: RuleName;
  /** The operator as sent, and its canonical name. */
  readonly sent: string;
  readonly operator: string;
  readonly operands: readonly MetadataValue[];
};

function parseCondition(input: OperatorInput): Condition {
  const { name, operator } = input;
  const { operand } = traitsOf(name);
  if (!OPERATORS[operand].has(operator)) {
    throw new Violation(
      `Rule '${name}' does not support operator '${input.sent.slice(0, MAX_TEXT)}'`,
    );
  }
  switch (operator) {
    case "$is":
    case "$is_not":
    case "$in":
    case "$not_in":
      return operand === "items"
        ? { kind: "items", operator, items: itemsOf(input) }
        : { kind: "equality", operator, operands: scalarsOf(input, operand) };
    case "$from":
      return { kind: "items", operator, items: itemsOf(input) };
    case "$less_than":
    case "$less_than_or_equal":
    case "$more_than":
    case "$more_than_or_equal":
    case "$after":
    case "$before":
      return { kind: "order", operator, operand: comparableOf(input, operand) };
    case "$starts_with":
    case "$ends_with":
    case "$contains":
      return { kind: "text", operator, operands: scalarsOf(input, operand) };
    case "$not_differ":
    case "$not_intersect":
      return { kind: "list", operator, operands: scalarsOf(input, operand) };
    case "$count":
    case "$count_more":
    case "$count_less":
      return { kind: "size", operator, size: wholeNumberOf(input) };
    case "$more_than_ago":
    case "$less_than_ago":
    case "$is_days_ago":
    case "$more_than_future":
    case "$less_than_future":
    case "$is_days_in_future":
      return { kind: "days", operator, days: wholeNumberOf(input) };
    case "$dow":
    case "$timeframe":
    case "$timeframe_absolute":
    case "$timeframe_daily_hours":
      return { kind: "window", operator, window: windowOf(input, operator) };
    default:
      throw new Violation(`Rule '${name}' does not support operator '${input.sent}'`);
  }
}

const EQUALITY = ["$is", "$is_not", "$in", "$not_in"] as const;
const ORDER = ["$less_than", "$less_than_or_equal", "$more_than", "$more_than_or_equal"] as const;

/** Valid operators by type of value. */
const OPERATORS: Readonly<Record<RuleOperand, ReadonlySet<string>>> = {
  number: new Set([...EQUALITY, ...ORDER]),
  ids: new Set(EQUALITY),
  boolean: new Set(["$is", "$is_not"]),
  items: new Set([...EQUALITY, "$from"]),
  any: new Set([
    ...EQUALITY,
    ...ORDER,
    "$starts_with",
    "$ends_with",
    "$contains",
    "$after",
    "$before",
    "$more_than_ago",
    "$less_than_ago",
    "$is_days_ago",
    "$more_than_future",
    "$less_than_future",
    "$is_days_in_future",
    "$dow",
    "$timeframe",
    "$timeframe_absolute",
    "$timeframe_daily_hours",
    "$count",
    "$count_more",
    "$count_less",
    "$not_differ",
    "$not_intersect",
  ]),
};

const itemsOf = ({ name, operator, sent, operands }: OperatorInput) =>
  parseItems(
    operands,
    operator === "$from" ? "products_collection" : defaultObject(name),
    (text) => new Violation(`Rule '${name}': operator '${sent}' ${text}`),
  );

/** The object type that older names imply. */
function defaultObject(name: RuleName): ItemObject | null {
  if (name === "product.id") return "product";
  return name === "sku.id" ? "sku" : null;
}

function scalarsOf(input: OperatorInput, operand: RuleOperand): readonly KnownValue[] {
  return input.operands.map((sent) => {
    const value = scalarOf(sent, operand);
    if (value === null || !fits(value, operand)) {
      throw wrongOperand(input, `needs operands of type ${OPERAND_TYPES[operand]}`);
    }
    return value;
  });
}

const OPERAND_TYPES: Readonly<Record<RuleOperand, string>> = {
  number: "number",
  any: "text, number or boolean",
  ids: "text",
  boolean: "boolean",
  items: "item",
};

function fits(value: KnownValue, operand: RuleOperand): boolean {
  switch (operand) {
    case "number":
      return value.kind === "number";
    case "ids":
      return value.kind === "text";
    case "boolean":
      return value.kind === "boolean";
    case "any":
      return true;
    case "items":
      return false;
    default:
      return operand satisfies never;
  }
}

function scalarOf(sent: MetadataValue, operand: RuleOperand): KnownValue | null {
  if (typeof sent === "string" && sent.length > MAX_TEXT) return null;
  return fromScalar(operand === "number" ? readDigits(sent) : sent);
}

function comparableOf(input: OperatorInput, operand: RuleOperand): KnownValue {
  const [value = null] = input.operands.map((sent) => scalarOf(sent, operand));
  const isDateOperator = input.operator === "$after" || input.operator === "$before";
  const isNumber = value?.kind === "number" && !isDateOperator;
  const isDate = value?.kind === "text" && operand === "any" && isDateText(value.value);
  if (input.operands.length === 1 && value !== null && (isNumber || isDate)) return value;
  if (isDateOperator) throw wrongOperand(input, "needs one operand, a date or date-time");
  const expected = operand === "any" ? "a number, date or date-time" : "a number";
  throw wrongOperand(input, `needs one operand, ${expected}`);
}

function wholeNumberOf(input: OperatorInput): number {
  const [value] = input.operands.map(readDigits);
  if (input.operands.length === 1 && isWholeNumber(value, MAX_DAYS)) return value;
  throw wrongOperand(input, `needs one operand, a whole number from 0 to ${MAX_DAYS}`);
}

const isWholeNumber = (value: MetadataValue | undefined, max: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;

function windowOf(
  input: OperatorInput,
  operator: "$dow" | "$timeframe" | "$timeframe_absolute" | "$timeframe_daily_hours",
) {
  const window = parseWindow(operator, input.operands);
  if (window.kind === "window") return window.window;
  throw wrongOperand(input, window.text);
}

const wrongOperand = ({ name, sent }: OperatorInput, text: string): Violation =>
  new Violation(`Rule '${name}': operator '${sent}' ${text}`);
