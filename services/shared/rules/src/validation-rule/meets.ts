import { compareDecimals } from "@scrip/money";

import { epochDayAt, parseDay, readDate } from "../formula/dates.ts";
import type { KnownValue } from "../formula/value.ts";
import { addDuration } from "../time-zone.ts";
import { type TimeContext, evaluateValidity } from "../validity.ts";
import type { Condition, DaysOperator, OrderOperator, Window } from "./condition.ts";
import { isAmong } from "./value-set.ts";

type ValueCondition = Exclude<Condition, { readonly kind: "items" }>;

/**
 * Whether a value meets a condition; spec/validation-and-redemption.md §3.4. What is missing (null)
 * meets only those that something is not, and a value of the wrong type does not meet the others.
 */
function meets(value: KnownValue | null, condition: ValueCondition, moment: TimeContext): boolean {
  switch (condition.kind) {
    case "equality": {
      const { operator, operands } = condition;
      const isOneOf = value !== null && isAny(value, operands, moment);
      return operator === "$is" || operator === "$in" ? isOneOf : !isOneOf;
    }
    case "order": {
      if (value === null) return false;
      const order = compareValues(value, condition.operand, moment);
      return order !== undefined && isInOrder(condition.operator, order);
    }
    case "text":
      return value !== null && holdsText(value, condition);
    case "list":
      return condition.operator === "$not_intersect"
        ? value === null || !isAny(value, condition.operands, moment)
        : value !== null && isSameSet(elementsOf(value), condition.operands);
    case "size":
      return value?.kind === "list" && isOfSize(value.values.length, condition);
    case "days": {
      const instant = value === null ? undefined : instantOfValue(value, moment);
      return instant !== undefined && isDaysAway(instant, condition, moment);
    }
    case "window": {
      const instant = value === null ? undefined : instantOfValue(value, moment);
      return instant !== undefined && isInside(instant, condition.window, moment.timeZone);
    }
    default:
      return condition satisfies never;
  }
}

/** All conditions of a rule on a value. Those on items are for lines, and no value meets them. */
export const meetsAll = (
  value: KnownValue | null,
  conditions: readonly Condition[],
  moment: TimeContext,
): boolean =>
  conditions.every((condition) => condition.kind !== "items" && meets(value, condition, moment));

const elementsOf = (value: KnownValue): readonly KnownValue[] =>
  value.kind === "list" ? value.values : [value];

/** Whether a value, or any element of a list, equals one of the operands. */
const isAny = (value: KnownValue, operands: readonly KnownValue[], moment: TimeContext): boolean =>
  elementsOf(value).some((element) => isAmong(element, operands)) ||
  isSameInstant(value, operands, moment);

/** Texts that are both dates are the same when they mean the same instant. */
function isSameInstant(
  value: KnownValue,
  operands: readonly KnownValue[],
  moment: TimeContext,
): boolean {
  if (!startsLikeDate(value)) return false;
  const instant = instantOfValue(value, moment);
  return (
    instant !== undefined &&
    operands.some((one) => startsLikeDate(one) && instantOfValue(one, moment) === instant)
  );
}

const startsLikeDate = (value: KnownValue): boolean =>
  value.kind === "text" && /^\d{4}-\d\d-\d\d(?:T|$)/.test(value.value);

const isSameSet = (elements: readonly KnownValue[], operands: readonly KnownValue[]): boolean =>
  elements.every((element) => isAmong(element, operands)) &&
  operands.every((operand) => isAmong(operand, elements));

/** Less than, equal to or more than zero; undefined for what has no order. */
function compareValues(
  value: KnownValue,
  operand: KnownValue,
  moment: TimeContext,
): number | undefined {
  if (value.kind === "number" && operand.kind === "number") {
    return compareDecimals(value.value, operand.value);
  }
  if (operand.kind === "number") return undefined;
  const [left, right] = [instantOfValue(value, moment), instantOfValue(operand, moment)];
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

/** A day means its first moment in the project's time zone; undefined for what is no date. */
function instantOfValue(value: KnownValue, moment: TimeContext): number | undefined {
  const date = readDate(value, moment);
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
  const moment = { now: instant, timeZone };
  const limits = {
    startDate: start === null ? null : (instantOfText(start, moment) ?? null),
    expirationDate: end === null ? null : lastInstantOf(end, moment),
    timeframe,
    daysOfWeek,
    hours,
  };
  return evaluateValidity(limits, null, moment) === "open";
}

const instantOfText = (text: string, moment: TimeContext): number | undefined =>
  instantOfValue({ kind: "text", value: text }, moment);

/** A day ends with its last millisecond. */
function lastInstantOf(text: string, moment: TimeContext): number | null {
  const { timeZone } = moment;
  const day = parseDay(text, timeZone);
  if (day === undefined) return instantOfText(text, moment) ?? null;
  return addDuration(timeZone, day, { months: 0, days: 1, ms: 0 }, 1) - 1;
}
