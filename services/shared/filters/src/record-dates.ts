import { civilFromDays } from "@scrip/rules";
import type { TimeContext } from "@scrip/rules";

import { MS_PER_DAY } from "./condition.ts";
import { daysOperand, DISTANCES, instantOfOperand, MAX_DAYS, PARTS, wholeNumber } from "./dates.ts";
import { type ConditionTime, localTime } from "./local-time.ts";
import { monthDaysOf, monthDaySpan } from "./month-days.ts";
import type { ScalarCondition } from "./record-scalars.ts";
import { spanOf, type Today } from "./spans.ts";

/** Whether an instant in epoch milliseconds meets a condition; `null` meets only negative ones. */
export type DateTest = (value: number | null, time: ConditionTime) => boolean;

/**
 * The condition of `compileDate` for instants in memory. Undefined for operators that dates do not
 * have.
 */
export function dateTest(condition: ScalarCondition): DateTest | undefined {
  const { name, operator, operands } = condition;
  // Operands that are no dates are rejected now, not with the first record.
  if (COMPARISONS.has(operator))
    for (const one of operands) instantOfOperand(name, one, { timeZone: "UTC" });
  const operandsAt = (time: ConditionTime): readonly number[] =>
    operands.map((one) => instantOfOperand(name, one, time));
  switch (operator) {
    case "$in":
    case "$is":
      return (value, time) => operandsAt(time).some((one) => one === value);
    case "$not_in":
    case "$is_not":
      return (value, time) => !operandsAt(time).some((one) => one === value);
    case "$after":
      return (value, time) => operandsAt(time).some((one) => value !== null && value > one);
    case "$before":
      return (value, time) => operandsAt(time).some((one) => value !== null && value < one);
    default:
      return spanTest(condition) ?? distanceTest(condition) ?? partTest(condition);
  }
}

const COMPARISONS: ReadonlySet<string> = new Set([
  "$in",
  "$is",
  "$not_in",
  "$is_not",
  "$after",
  "$before",
]);

const dayAt = (instant: number, time: TimeContext): number => localTime(instant, time).epochDay;

const todayOf = (time: TimeContext): Today => ({
  day: dayAt(time.now, time),
  firstWeekday: time.firstWeekday,
});

/** A placeholder date, to find out whether an operator is about days. */
const ANY_DAY: Today = { day: 0 };

/** Operators for one calendar range, or a set of days of the year. */
function spanTest({ name, operator, operands }: ScalarCondition): DateTest | undefined {
  const days = daysOperand(operator, name, operands);
  if (monthDaySpan(operator, ANY_DAY, days) !== undefined) {
    return (value, time) => {
      const span = monthDaySpan(operator, todayOf(time), days);
      if (value === null || span === undefined) return false;
      const { month, day } = civilFromDays(dayAt(value, time));
      return monthDaysOf(span).includes(month * 100 + day);
    };
  }
  if (spanOf(operator, ANY_DAY, days) === undefined) return undefined;
  return (value, time) => {
    const span = spanOf(operator, todayOf(time), days);
    if (value === null || span === undefined) return false;
    const day = dayAt(value, time);
    return day >= span.from && day < span.to;
  };
}

function distanceTest({ name, operator, operands }: ScalarCondition): DateTest | undefined {
  if (!DISTANCES.has(operator)) return undefined;
  const distance = wholeNumber(name, operands[0], MAX_DAYS) * MS_PER_DAY;
  return (value, { now }) => {
    if (value === null) return false;
    switch (operator) {
      case "$more_than":
      case "$more_than_ago":
        return value < now - distance;
      case "$more_than_equal":
        return value <= now - distance;
      case "$less_than":
      case "$less_than_ago":
        return value > now - distance && value <= now;
      case "$less_than_equal":
        return value >= now - distance && value <= now;
      case "$more_than_future":
        return value > now + distance;
      default:
        return value < now + distance && value >= now;
    }
  };
}

/** Parts of the calendar: matches any of the listed numbers. */
function partTest({ name, operator, operands }: ScalarCondition): DateTest | undefined {
  const part = PARTS[operator];
  if (part === undefined) return undefined;
  const numbers = new Set(operands.map((one) => wholeNumber(name, one, part.max)));
  return (value, time) => {
    if (value === null) return false;
    const { epochDay, weekday } = localTime(value, time);
    const parts = { ...civilFromDays(epochDay), dow: weekday };
    return numbers.has(parts[part.name]);
  };
}
