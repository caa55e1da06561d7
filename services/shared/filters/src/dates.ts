import { daysFromCivil, instantAt, isCivilDay, localTimeAt } from "@scrip/rules";

import {
  type Condition,
  type FilterContext,
  MS_PER_DAY,
  type Operand,
  Violation,
} from "./condition.ts";
import type { Bind } from "./fields.ts";
import { type ConditionTime, readAsUtc } from "./local-time.ts";
import { monthDaysOf, monthDaySpan } from "./month-days.ts";
import { spanOf } from "./spans.ts";

/**
 * Conditions on instants (docs/filters-and-listing.md#dates). Days, weeks, months and years are
 * those of the project's time zone; operators that count days without a calendar count 24 hours
 * each.
 */
export function compileDate(
  condition: Condition,
  context: FilterContext & ConditionTime,
  bind: Bind,
): string | undefined {
  const span = compileSpan(condition, context, bind);
  if (span !== undefined) return span;
  const { name, operator, operands, field } = condition;
  const instants = (): Date[] =>
    operands.map((one) => new Date(instantOfOperand(name, one, context)));
  switch (operator) {
    case "$in":
    case "$is":
      return `${field.sql} = any(${bind(instants())}::timestamptz[])`;
    case "$not_in":
    case "$is_not":
      return `(${field.sql} = any(${bind(instants())}::timestamptz[])) is not true`;
    case "$after":
      return `${field.sql} > any(${bind(instants())}::timestamptz[])`;
    case "$before":
      return `${field.sql} < any(${bind(instants())}::timestamptz[])`;
    default:
      return compileDistance(condition, context, bind) ?? compilePart(condition, context, bind);
  }
}

/** A day, or a date-time with or without a zone. */
const DATE_OR_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** An ISO 8601 day (midnight in the project's time zone) or date-time (UTC unless it has a zone). */
export function instantOfOperand(
  name: string,
  operand: Operand,
  { timeZone, readAs }: Pick<ConditionTime, "timeZone" | "readAs">,
): number {
  const text = String(operand);
  const [, year, month, day, time, zone] = DATE_OR_TIME.exec(text) ?? [];
  const civil = { year: Number(year), month: Number(month), day: Number(day) };
  if (isCivilDay(civil)) {
    if (time === undefined) return instantAt(timeZone, daysFromCivil(civil), 0);
    const instant = Date.parse(zone === undefined ? `${text}Z` : text);
    if (!Number.isNaN(instant)) return readAs === undefined ? instant : readAsUtc(instant, readAs);
  }
  throw new Violation(`Values of filter ${name} must be ISO 8601 dates or date-times`);
}

/** Operators for one calendar range, or a set of days of the year. */
function compileSpan(
  { name, operator, operands, field }: Condition,
  context: FilterContext,
  bind: Bind,
): string | undefined {
  const { timeZone, firstWeekday } = context;
  const today = { day: localTimeAt(timeZone, context.now).epochDay, firstWeekday };
  const days = daysOperand(operator, name, operands);
  const monthDays = monthDaySpan(operator, today, days);
  if (monthDays !== undefined) {
    const local = localSql(field.sql, context, bind);
    const monthDay = `(extract(month from ${local}) * 100 + extract(day from ${local}))::int4`;
    return `${monthDay} = any(${bind(monthDaysOf(monthDays))}::int4[])`;
  }
  const span = spanOf(operator, today, days);
  if (span === undefined) return undefined;
  const from = bind(new Date(instantAt(timeZone, span.from, 0)));
  const to = bind(new Date(instantAt(timeZone, span.to, 0)));
  return `${field.sql} >= ${from}::timestamptz and ${field.sql} < ${to}::timestamptz`;
}

export const MAX_DAYS = 36_500;
/** Dates this far away are still within those of PostgreSQL. */
const MAX_YEARS = 1_000;

/** The number in `…_days_…` and `…_years_…` operators; 0 for operators without one. */
export function daysOperand(operator: string, name: string, operands: readonly Operand[]): number {
  if (operator.includes("days")) return wholeNumber(name, operands[0], MAX_DAYS);
  return operator.includes("years") ? wholeNumber(name, operands[0], MAX_YEARS) : 0;
}

export function wholeNumber(name: string, operand: Operand | undefined, max: number): number {
  if (!isWholeNumber(operand, max)) {
    throw new Violation(`Values of filter ${name} must be whole numbers from 0 to ${max}`);
  }
  return Number(operand);
}

export const isWholeNumber = (operand: Operand | undefined, max: number): boolean =>
  /^\d{1,6}$/.test(String(operand)) && Number(operand) <= max;

function compileDistance(
  { name, operator, operands, field }: Condition,
  { now }: FilterContext,
  bind: Bind,
): string | undefined {
  if (!DISTANCES.has(operator)) return undefined;
  const days = wholeNumber(name, operands[0], MAX_DAYS);
  const at = (instant: number): string => `${bind(new Date(instant))}::timestamptz`;
  const past = now - days * MS_PER_DAY;
  const future = now + days * MS_PER_DAY;
  switch (operator) {
    case "$more_than":
    case "$more_than_ago":
      return `${field.sql} < ${at(past)}`;
    case "$more_than_equal":
      return `${field.sql} <= ${at(past)}`;
    case "$less_than":
    case "$less_than_ago":
      return `${field.sql} > ${at(past)} and ${field.sql} <= ${at(now)}`;
    case "$less_than_equal":
      return `${field.sql} >= ${at(past)} and ${field.sql} <= ${at(now)}`;
    case "$more_than_future":
      return `${field.sql} > ${at(future)}`;
    default:
      return `${field.sql} < ${at(future)} and ${field.sql} >= ${at(now)}`;
  }
}

export const DISTANCES: ReadonlySet<string> = new Set([
  "$more_than",
  "$more_than_ago",
  "$more_than_equal",
  "$less_than",
  "$less_than_ago",
  "$less_than_equal",
  "$more_than_future",
  "$less_than_future",
]);

/** Parts of the calendar: matches any of the listed numbers. */
function compilePart(
  { name, operator, operands, field }: Condition,
  context: FilterContext,
  bind: Bind,
): string | undefined {
  const part = PARTS[operator];
  if (part === undefined) return undefined;
  const numbers = operands.map((one) => wholeNumber(name, one, part.max));
  const local = localSql(field.sql, context, bind);
  return `extract(${part.name} from ${local})::int4 = any(${bind(numbers)}::int4[])`;
}

/** `dow` counts from Sunday as 0, as the API does. */
export const PARTS: Readonly<
  Record<string, { readonly name: "day" | "dow" | "month" | "year"; readonly max: number }>
> = {
  $is_day_of_month: { name: "day", max: 31 },
  $is_day: { name: "dow", max: 6 },
  $is_month: { name: "month", max: 12 },
  $is_year: { name: "year", max: 9999 },
};

/**
 * The local time of the project. Postgres reads `GMT+2` in POSIX notation, west of Greenwich, so
 * offsets are added as minutes and only names are passed to it.
 */
function localSql(sql: string, { timeZone }: FilterContext, bind: Bind): string {
  if (!/[+-]\d/.test(timeZone) || timeZone.startsWith("Etc/")) {
    return `(${sql} at time zone ${bind(postgresName(timeZone))}::text)`;
  }
  const { epochDay, msOfDay } = localTimeAt(timeZone, 0);
  const minutes = (epochDay * MS_PER_DAY + msOfDay) / 60_000;
  return `(${sql} at time zone 'UTC' + make_interval(mins => ${bind(minutes)}::int4))`;
}

/** Names that Intl knows and the time zone database no longer has. */
const FORMER_NAMES: ReadonlySet<string> = new Set(["US/Pacific-New"]);

/**
 * Postgres reads names such as `CET` and `PST` as abbreviations, which have no summer time. Other names are passed
 * unchanged: Intl often returns an old name, such as `Asia/Calcutta`, which many systems no longer have.
 */
const postgresName = (timeZone: string): string =>
  timeZone === "UTC" || (timeZone.includes("/") && !FORMER_NAMES.has(timeZone))
    ? timeZone
    : new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone;
