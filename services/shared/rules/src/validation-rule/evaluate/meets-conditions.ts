import { compareDecimals } from "@scrip/money";

import { epochDayAt, parseDay, readDate } from "../../formula/dates.ts";
import type { KnownValue } from "../../formula/value.ts";
import type { TimeContext } from "../../time/time-context.ts";
import { addDuration } from "../../time/time-zone.ts";
import { evaluateValidity } from "../../validity/evaluate-validity.ts";
import type { Condition, DaysOperator, OrderOperator, Window } from "../model/condition.ts";
import { isAmong } from "./value-set.ts";

type ValueCondition = Exclude<Condition, { readonly kind: "items" }>;

/**
 * Whether a value meets a condition (docs/validation-rules.md#operators). A missing value (null)
 * meets only negative operators; a value of the wrong type does not meet the others.
 */
function meets(value: KnownValue | null, condition: ValueCondition, time: TimeContext): boolean {
  switch (condition.kind) {
    case "equality": {
      const { operator, operands } = condition;
      const isOneOf = value !== null && isAny(value, operands, time);
      return operator === "$is" || operator === "$in" ? isOneOf : !isOneOf;
    }
    case "order": {
      if (value === null) return false;
      const order = compareValues(value, condition.operand, time);
      return order !== undefined && isInOrder(condition.operator, order);
    }
    case "text":
      return value !== null && holdsText(value, condition);
    case "list":
      return condition.operator === "$not_intersect"
        ? value === null || !isAny(value, condition.operands, time)
        : value !== null && isSameSet(elementsOf(value), condition.operands);
    case "size":
      return value?.kind === "list" && isOfSize(value.values.length, condition);
    case "days": {
      const instant = value === null ? undefined : instantOfValue(value, time);
      return instant !== undefined && isDaysAway(instant, condition, time);
    }
    case "window": {
      const instant = value === null ? undefined : instantOfValue(value, time);
      return instant !== undefined && isInside(instant, condition.window, time.timeZone);
    }
    default:
      return condition satisfies never;
  }
}

/** Whether a value meets all conditions of a rule. Conditions on items are for lines only. */
export const meetsAll = (
  value: KnownValue | null,
  conditions: readonly Condition[],
  time: TimeContext,
): boolean =>
  conditions.every((condition) => condition.kind !== "items" && meets(value, condition, time));

const elementsOf = (value: KnownValue): readonly KnownValue[] =>
  value.kind === "list" ? value.values : [value];

/** Whether a value, or any element of a list, equals one of the operands. */
const isAny = (value: KnownValue, operands: readonly KnownValue[], time: TimeContext): boolean =>
  elementsOf(value).some((element) => isAmong(element, operands)) ||
  isSameInstant(value, operands, time);

/** Two date texts are equal when they mean the same instant. */
function isSameInstant(
  value: KnownValue,
  operands: readonly KnownValue[],
  time: TimeContext,
): boolean {
  if (!startsLikeDate(value)) return false;
  const instant = instantOfValue(value, time);
  return (
    instant !== undefined &&
    operands.some((one) => startsLikeDate(one) && instantOfValue(one, time) === instant)
  );
}

const startsLikeDate = (value: KnownValue): boolean =>
  value.kind === "text" && /^\d{4}-\d\d-\d\d(?:T|$)/.test(value.value);

const isSameSet = (elements: readonly KnownValue[], operands: readonly KnownValue[]): boolean =>
  elements.every((element) => isAmong(element, operands)) &&
  operands.every((operand) => isAmong(operand, elements));

/** Negative, zero or positive; undefined for values without an order. */
function compareValues(
  value: KnownValue,
  operand: KnownValue,
  time: TimeContext,
): number | undefined {
  if (value.kind === "number" && operand.kind === "number") {
    return compareDecimals(value.value, operand.value);
  }
  if (operand.kind === "number") return undefined;
  const [left, right] = [instantOfValue(value, time), instantOfValue(operand, time)];
  return left === undefined || right === undefined ? undefined : left - right;
}

function isInOrder(operator: OrderOperator, order: number): boolean {
  switch (operator) {
    case "$less_than":
    case "$before":
      return order < 0;
    case "$less_than_or_equal":
      return order <= 0;
    case "$more_than":
    case "$after":
      return order > 0;
    case "$more_than_or_equal":
      return order >= 0;
    default:
      return operator satisfies never;
  }
}

type TextCondition = Extract<Condition, { readonly kind: "text" }>;

function holdsText(value: KnownValue, { operator, operands }: TextCondition): boolean {
  if (value.kind === "list") {
    return operator === "$contains" && value.values.some((element) => isAmong(element, operands));
  }
  return value.kind === "text" && operands.some((one) => hasText(value.value, operator, one));
}

function hasText(text: string, operator: TextCondition["operator"], operand: KnownValue): boolean {
  if (operand.kind !== "text") return false;
  switch (operator) {
    case "$starts_with":
      return text.startsWith(operand.value);
    case "$ends_with":
      return text.endsWith(operand.value);
    case "$contains":
      return text.includes(operand.value);
    default:
      return operator satisfies never;
  }
}

function isOfSize(
  length: number,
  { operator, size }: Extract<Condition, { readonly kind: "size" }>,
): boolean {
  switch (operator) {
    case "$count":
      return length === size;
    case "$count_more":
      return length > size;
    case "$count_less":
      return length < size;
    default:
      return operator satisfies never;
  }
}

/** A day means its start in the project's time zone; undefined for other text. */
function instantOfValue(value: KnownValue, time: TimeContext): number | undefined {
  const date = readDate(value, time);
  return date.kind === "date" ? date.instant : undefined;
}

function isDaysAway(
  instant: number,
  { operator, days }: { readonly operator: DaysOperator; readonly days: number },
  { now, timeZone }: TimeContext,
): boolean {
  const ago = epochDayAt(now, timeZone) - epochDayAt(instant, timeZone);
  switch (operator) {
    case "$more_than_ago":
      return ago > days;
    case "$less_than_ago":
      return ago >= 0 && ago < days;
    case "$is_days_ago":
      return ago === days;
    case "$more_than_future":
      return -ago > days;
    case "$less_than_future":
      return ago <= 0 && -ago < days;
    case "$is_days_in_future":
      return -ago === days;
    default:
      return operator satisfies never;
  }
}

function isInside(instant: number, window: Window, timeZone: string): boolean {
  const { start, end, timeframe, daysOfWeek, hours } = window;
  const time = { now: instant, timeZone };
  const limits = {
    startDate: start === null ? null : (instantOfText(start, time) ?? null),
    expirationDate: end === null ? null : lastInstantOf(end, time),
    timeframe,
    daysOfWeek,
    hours,
  };
  return evaluateValidity(limits, null, time) === "open";
}

const instantOfText = (text: string, time: TimeContext): number | undefined =>
  instantOfValue({ kind: "text", value: text }, time);

/** A day ends with its last millisecond. */
function lastInstantOf(text: string, time: TimeContext): number | null {
  const { timeZone } = time;
  const day = parseDay(text, timeZone);
  if (day === undefined) return instantOfText(text, time) ?? null;
  return addDuration(timeZone, day, { months: 0, days: 1, ms: 0 }, 1) - 1;
}
