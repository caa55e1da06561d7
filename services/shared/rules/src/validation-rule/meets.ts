import { compareDecimals } from "@scrip/money";

import { epochDayAt, parseDay, readDate } from "../formula/dates.ts";
import { isSame } from "../formula/operators.ts";
import type { KnownValue } from "../formula/value.ts";
import { addDuration } from "../time-zone.ts";
import { type Moment, judgeValidity } from "../validity.ts";
import type { Condition, DaysOperator, OrderOperator, Window } from "./condition.ts";

type ValueCondition = Exclude<Condition, { readonly kind: "items" }>;

/**
 * Whether a value meets a condition; spec/validation-and-redemption.md §3.4. What is missing (null)
 * meets only those that something is not, and a value of the wrong type does not meet the others.
 */
export function meets(
  value: KnownValue | null,
  condition: ValueCondition,
  moment: Moment,
): boolean {
  switch (condition.kind) {
    case "equality": {
      const { operator, operands } = condition;
      const isAmong = value !== null && intersects(value, operands, moment);
      return operator === "$is" || operator === "$in" ? isAmong : !isAmong;
    }
    case "order": {
      if (value === null) return false;
      const order = compareValues(value, condition.operand, moment);
      return order !== undefined && isInOrder(condition.operator, order);
    }
    case "text":
      return value !== null && condition.operands.some((one) => hasText(value, condition, one));
    case "list":
      return condition.operator === "$not_intersect"
        ? value === null || !intersects(value, condition.operands, moment)
        : value !== null && isSameSet(value, condition.operands, moment);
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
  moment: Moment,
): boolean =>
  conditions.every((condition) => condition.kind !== "items" && meets(value, condition, moment));

export const elementsOf = (value: KnownValue): readonly KnownValue[] =>
  value.kind === "list" ? value.values : [value];

const intersects = (value: KnownValue, operands: readonly KnownValue[], moment: Moment): boolean =>
  elementsOf(value).some((element) => isListed(element, operands, moment));

const isListed = (value: KnownValue, operands: readonly KnownValue[], moment: Moment): boolean =>
  operands.some((operand) => equals(value, operand, moment));

/** Texts that are both dates are the same when they mean the same instant. */
function equals(value: KnownValue, operand: KnownValue, moment: Moment): boolean {
  if (isSame(value, operand) === true) return true;
  if (value.kind !== "text" || operand.kind !== "text") return false;
  if (!startsLikeDate(value.value) || !startsLikeDate(operand.value)) return false;
  const instant = instantOfValue(value, moment);
  return instant !== undefined && instant === instantOfValue(operand, moment);
}

const startsLikeDate = (text: string): boolean => /^\d{4}-\d\d-\d\d(?:T|$)/.test(text);

function isSameSet(value: KnownValue, operands: readonly KnownValue[], moment: Moment): boolean {
  const elements = elementsOf(value);
  return (
    elements.every((element) => isListed(element, operands, moment)) &&
    operands.every((operand) => isListed(operand, elements, moment))
  );
}

/** Less than, equal to or more than zero; undefined for what has no order. */
export function compareValues(
  value: KnownValue,
  operand: KnownValue,
  moment: Moment,
): number | undefined {
  if (value.kind === "number" && operand.kind === "number") {
    return compareDecimals(value.value, operand.value);
  }
  if (operand.kind === "number") return undefined;
  const [left, right] = [instantOfValue(value, moment), instantOfValue(operand, moment)];
  return left === undefined || right === undefined ? undefined : left - right;
}

export function isInOrder(operator: OrderOperator, order: number): boolean {
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

function hasText(
  value: KnownValue,
  { operator }: { readonly operator: "$starts_with" | "$ends_with" | "$contains" },
  operand: KnownValue,
): boolean {
  if (value.kind === "list") {
    return operator === "$contains" && value.values.some((one) => isSame(one, operand) === true);
  }
  if (value.kind !== "text" || operand.kind !== "text") return false;
  switch (operator) {
    case "$starts_with":
      return value.value.startsWith(operand.value);
    case "$ends_with":
      return value.value.endsWith(operand.value);
    case "$contains":
      return value.value.includes(operand.value);
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
export function instantOfValue(value: KnownValue, moment: Moment): number | undefined {
  const date = readDate(value, moment);
  return date.kind === "date" ? date.instant : undefined;
}

function isDaysAway(
  instant: number,
  { operator, days }: { readonly operator: DaysOperator; readonly days: number },
  { now, timeZone }: Moment,
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
  return judgeValidity(limits, null, moment) === "open";
}

const instantOfText = (text: string, moment: Moment): number | undefined =>
  instantOfValue({ kind: "text", value: text }, moment);

/** A day ends with its last millisecond. */
function lastInstantOf(text: string, moment: Moment): number | null {
  const { timeZone } = moment;
  const day = parseDay(text, timeZone);
  if (day === undefined) return instantOfText(text, moment) ?? null;
  return addDuration(timeZone, day, { months: 0, days: 1, ms: 0 }, 1) - 1;
}
