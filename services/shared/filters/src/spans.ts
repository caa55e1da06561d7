import { civilFromDays, daysFromCivil } from "@scrip/rules";

/** Days since 1970-01-01; `to` is exclusive. */
export type DaySpan = { readonly from: number; readonly to: number };

/** Today, and the first day of the week, 0 (Sunday) to 6. Default: Monday. */
export type Today = { readonly day: number; readonly firstWeekday?: number | undefined };

const MONDAY = 1;

/** The calendar range of an operator relative to today; `n` is its operand. */
export function spanOf(
  operator: string,
  { day: today, firstWeekday = MONDAY }: Today,
  n: number,
): DaySpan | undefined {
  switch (operator) {
    case "$today":
      return day(today);
    case "$tomorrow":
      return day(today + 1);
    case "$yesterday":
      return day(today - 1);
    case "$is_days_ago":
      return day(today - n);
    case "$is_days_in_future":
      return day(today + n);
    case "$is_years_ago":
      return day(yearsBefore(today, n));
    case "$this_week":
      return week(today, firstWeekday, 0);
    case "$last_week":
      return week(today, firstWeekday, -1);
    case "$next_week":
      return week(today, firstWeekday, 1);
    case "$this_month":
      return months(today, 0);
    case "$last_month":
      return months(today, -1);
    case "$next_month":
      return months(today, 1);
    case "$this_year":
      return year(today, 0);
    case "$last_year":
      return year(today, -1);
    case "$next_year":
      return year(today, 1);
    default:
      return undefined;
  }
}

const day = (from: number): DaySpan => ({ from, to: from + 1 });

/** 1970-01-01 was a Thursday. */
const weekdayOf = (epochDay: number): number => (((epochDay + 4) % 7) + 7) % 7;

function week(today: number, firstWeekday: number, offset: number): DaySpan {
  const first = today - ((weekdayOf(today) + 7 - firstWeekday) % 7) + offset * 7;
  return { from: first, to: first + 7 };
}

function months(today: number, offset: number): DaySpan {
  const { year: thisYear, month } = civilFromDays(today);
  const count = thisYear * 12 + month - 1 + offset;
  return { from: firstOfMonth(count), to: firstOfMonth(count + 1) };
}

/** Months are counted from January of the year 0. */
const firstOfMonth = (count: number): number =>
  daysFromCivil({ year: Math.floor(count / 12), month: (count % 12) + 1, day: 1 });

function year(today: number, offset: number): DaySpan {
  const from = civilFromDays(today).year + offset;
  return {
    from: daysFromCivil({ year: from, month: 1, day: 1 }),
    to: daysFromCivil({ year: from + 1, month: 1, day: 1 }),
  };
}

/** February 29 of a leap year becomes February 28 in other years. */
function yearsBefore(today: number, years: number): number {
  const { year: thisYear, month, day: date } = civilFromDays(today);
  const then = daysFromCivil({ year: thisYear - years, month, day: date });
  return civilFromDays(then).month === month ? then : then - 1;
}
