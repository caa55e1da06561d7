import { civilFromDays, daysInMonth } from "@scrip/rules";

import { type DaySpan, spanOf, type Today } from "./spans.ts";

/**
 * The days of the year that an operator ending in `_md` matches, as a range around today; undefined
 * for other operators. The year is ignored: these operators find birthdays.
 */
export function monthDaySpan(operator: string, seen: Today, n: number): DaySpan | undefined {
  if (!operator.endsWith("_md")) return undefined;
  const { day: today } = seen;
  const year = spanOf("$this_year", seen, 0) ?? { from: today, to: today + 1 };
  switch (operator) {
    case "$is_more_days_ago_md":
      return { from: year.from, to: today - n };
    case "$is_less_days_ago_md":
      return { from: today - n + 1, to: today + 1 };
    case "$is_more_days_in_future_md":
      return { from: today + n + 1, to: year.to };
    case "$is_less_days_in_future_md":
      return { from: today, to: today + n };
    default:
      return spanOf(operator.slice(0, -"_md".length), seen, n);
  }
}

/** All days of a year, for ranges of that length. */
const LONGEST = 366;

/**
 * Month and day as one number (229 is February 29, which counts as February 28 in common years).
 */
export function monthDaysOf({ from, to }: DaySpan): readonly number[] {
  const found = new Set<number>();
  for (let epochDay = from; epochDay < Math.min(to, from + LONGEST); epochDay += 1) {
    const { year, month, day } = civilFromDays(epochDay);
    found.add(month * 100 + day);
    if (month === 2 && day === 28 && daysInMonth(year, 2) === 28) found.add(229);
  }
  return [...found];
}
