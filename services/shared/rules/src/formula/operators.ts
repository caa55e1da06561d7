import {
  type Decimal,
  addDecimals,
  compareDecimals,
  divideDecimals,
  multiplyDecimals,
  negateDecimal,
  parseDecimal,
  remainderOf,
} from "@scrip/money";

import type { TimeContext } from "../time/time-context.ts";
import { epochDayAt, readDate } from "./dates.ts";
import { notANumber } from "./functions.ts";
import type { ArithmeticOperator, ComparisonOperator } from "./syntax.ts";
import {
  type FormulaValue,
  type KnownValue,
  booleanValue,
  failure,
  numberValue,
  textValue,
} from "./value.ts";

export function calculate(
  operator: ArithmeticOperator,
  left: FormulaValue,
  right: FormulaValue,
): FormulaValue {
  if (left.kind !== "number") return notANumber(left);
  if (right.kind !== "number") return notANumber(right);
  const result = arithmetic(operator, left.value, right.value);
  if (result !== undefined) return numberValue(result);
  const isDivision = operator === "/" || operator === "%";
  return failure(
    isDivision && right.value.unscaled === 0n ? "a division by zero" : "a result is out of range",
  );
}

function arithmetic(operator: ArithmeticOperator, a: Decimal, b: Decimal): Decimal | undefined {
  switch (operator) {
    case "+":
      return addDecimals(a, b);
    case "-":
      return addDecimals(a, negateDecimal(b));
    case "*":
      return multiplyDecimals(a, b);
    case "/":
      return divideDecimals(a, b);
    case "%":
      return remainderOf(a, b);
    default:
      return operator satisfies never;
  }
}

export function compare(
  operator: ComparisonOperator,
  left: FormulaValue,
  right: FormulaValue,
  time: TimeContext,
): FormulaValue {
  if (left.kind === "failure") return left;
  if (right.kind === "failure") return right;
  switch (operator) {
    case "=":
    case "!=":
      return equality(left, right, operator === "=");
    case ">":
    case "<":
    case ">=":
    case "<=":
      return inOrder(operator, left, right);
    case "CONTAINS":
    case "STARTSWITH":
    case "ENDSWITH":
      return holds(operator, left, right);
    case "IN_ARRAY":
    case "NOT_IN_ARRAY":
      return listed(left, right, operator === "IN_ARRAY");
    case "DATE_IS":
    case "DATE_IS_NOT":
    case "IS_AFTER":
    case "IS_BEFORE":
      return compareDates(operator, readDate(left, time), readDate(right, time), time);
    default:
      return operator satisfies never;
  }
}

function equality(left: KnownValue, right: KnownValue, expected: boolean): FormulaValue {
  const same = isSame(left, right);
  return same === undefined ? wrongTypes(left, right) : booleanValue(same === expected);
}

/** Numbers never equal texts. Formulas cannot compare lists. */
export function isSame(left: KnownValue, right: KnownValue): boolean | undefined {
  if (left.kind === "list" || right.kind === "list") return undefined;
  if (left.kind === "number" && right.kind === "number") {
    return compareDecimals(left.value, right.value) === 0;
  }
  if (left.kind === "date" && right.kind === "date") return left.instant === right.instant;
  if (left.kind === "text" && right.kind === "text") return left.value === right.value;
  if (left.kind === "boolean" && right.kind === "boolean") return left.value === right.value;
  return false;
}

function inOrder(
  operator: ">" | "<" | ">=" | "<=",
  left: KnownValue,
  right: KnownValue,
): FormulaValue {
  const order = orderOf(left, right);
  if (order === undefined) return wrongTypes(left, right);
  switch (operator) {
    case ">":
      return booleanValue(order > 0);
    case "<":
      return booleanValue(order < 0);
    case ">=":
      return booleanValue(order >= 0);
    case "<=":
      return booleanValue(order <= 0);
    default:
      return operator satisfies never;
  }
}

function orderOf(left: KnownValue, right: KnownValue): number | undefined {
  if (left.kind === "number" && right.kind === "number") {
    return compareDecimals(left.value, right.value);
  }
  if (left.kind === "date" && right.kind === "date") return left.instant - right.instant;
  return undefined;
}

function holds(
  operator: "CONTAINS" | "STARTSWITH" | "ENDSWITH",
  left: KnownValue,
  right: KnownValue,
): FormulaValue {
  if (left.kind === "list" && operator === "CONTAINS") {
    return booleanValue(left.values.some((value) => isSame(value, right) === true));
  }
  if (left.kind !== "text" || right.kind !== "text") return wrongTypes(left, right);
  switch (operator) {
    case "CONTAINS":
      return booleanValue(left.value.includes(right.value));
    case "STARTSWITH":
      return booleanValue(left.value.startsWith(right.value));
    case "ENDSWITH":
      return booleanValue(left.value.endsWith(right.value));
    default:
      return operator satisfies never;
  }
}

/** A list is text with commas, or a list of metadata. */
function listed(left: KnownValue, right: KnownValue, expected: boolean): FormulaValue {
  if (left.kind === "list") return wrongTypes(left, right);
  if (right.kind === "list") {
    return booleanValue(right.values.some((value) => isSame(left, value) === true) === expected);
  }
  if (right.kind !== "text") return wrongTypes(left, right);
  const elements = right.value.split(",").map((element) => element.trim());
  const found = elements.some((element) => isSame(left, elementValue(element, left)) === true);
  return booleanValue(found === expected);
}

/** An element of such text is a number when compared with one. */
function elementValue(element: string, operand: KnownValue): KnownValue {
  const number = operand.kind === "number" ? parseDecimal(element) : undefined;
  return number === undefined ? textValue(element) : numberValue(number);
}

function compareDates(
  operator: "DATE_IS" | "DATE_IS_NOT" | "IS_AFTER" | "IS_BEFORE",
  left: FormulaValue,
  right: FormulaValue,
  { timeZone }: TimeContext,
): FormulaValue {
  if (left.kind !== "date") return left;
  if (right.kind !== "date") return right;
  const isSameDay = epochDayAt(left.instant, timeZone) === epochDayAt(right.instant, timeZone);
  switch (operator) {
    case "DATE_IS":
      return booleanValue(isSameDay);
    case "DATE_IS_NOT":
      return booleanValue(!isSameDay);
    case "IS_AFTER":
      return booleanValue(left.instant > right.instant);
    case "IS_BEFORE":
      return booleanValue(left.instant < right.instant);
    default:
      return operator satisfies never;
  }
}

const wrongTypes = (left: KnownValue, right: KnownValue): FormulaValue =>
  failure(`a ${left.kind} and a ${right.kind} cannot be compared`);
