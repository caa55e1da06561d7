import { MS_PER_DAY } from "./civil.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { type LocalTime, addDuration, localTimeAt } from "./time-zone.ts";

/** Opens for `duration` at the start date and again after every `interval`; ISO 8601 texts. */
export type ValidityTimeframe = { readonly interval: string; readonly duration: string };

/**
 * Open from `startTime` to `expirationTime` (HH:mm), on the weekdays named or on all when none is.
 * An end before the start lies on the next day.
 */
export type DailyHours = {
  readonly startTime: string;
  readonly expirationTime: string;
  readonly daysOfWeek: readonly number[];
};

/** The time limits of a voucher, a campaign or a promotion tier; instants are epoch milliseconds. */
export type Validity = {
  readonly startDate: number | null;
  readonly expirationDate: number | null;
  readonly timeframe: ValidityTimeframe | null;
  /** 0 is Sunday; an empty list limits nothing. */
  readonly daysOfWeek: readonly number[] | null;
  readonly hours: { readonly daily: readonly DailyHours[] } | null;
};

export type TimeContext = {
  readonly now: number;
  readonly timeZone: string;
  /** The day that weeks begin on, 0 (Sunday) to 6 (Saturday); Monday when absent. */
  readonly firstWeekday?: number | undefined;
};

export type ValidityStatus = "open" | "not_started" | "ended" | "outside_window";

/**
 * Judges the time limits of an object that may belong to a parent (a voucher of a campaign). Both
 * start dates count, the object's own end date replaces the parent's, and so does each of its
 * recurring limits, one by one.
 */
export function evaluateValidity(
  own: Validity,
  parent: Validity | null,
  moment: TimeContext,
): ValidityStatus {
  const { now } = moment;
  if (own.startDate !== null && now < own.startDate) return "not_started";
  if (parent !== null && parent.startDate !== null && now < parent.startDate) return "not_started";
  const expirationDate = own.expirationDate ?? parent?.expirationDate ?? null;
  if (expirationDate !== null && now > expirationDate) return "ended";
  return isInsideWindows(own, parent, moment) ? "open" : "outside_window";
}

function isInsideWindows(own: Validity, parent: Validity | null, moment: TimeContext): boolean {
  if (!isInsideTimeframe(own, parent, moment)) return false;
  const daysOfWeek = own.daysOfWeek ?? parent?.daysOfWeek ?? null;
  const hours = own.hours ?? parent?.hours ?? null;
  if (daysOfWeek === null && hours === null) return true;
  const local = localTimeAt(moment.timeZone, moment.now);
  if (daysOfWeek !== null && !includesDay(daysOfWeek, local.weekday)) return false;
  return hours === null || isInsideHours(hours, local);
}

export const isInsideHours = (
  { daily }: { readonly daily: readonly DailyHours[] },
  local: LocalTime,
): boolean => daily.length === 0 || daily.some((entry) => covers(entry, local));

/** Windows are counted from the start date of the object that defines them. */
export function timeframeStart(own: Validity, parent: Validity | null): number | null {
  const [first, second] = own.timeframe === null ? [parent, own] : [own, parent];
  return first?.startDate ?? second?.startDate ?? null;
}

export function isInsideTimeframe(
  own: Validity,
  parent: Validity | null,
  moment: TimeContext,
): boolean {
  const timeframe = own.timeframe ?? parent?.timeframe ?? null;
  if (timeframe === null) return true;
  const start = timeframeStart(own, parent);
  const interval = parseDuration(timeframe.interval);
  const duration = parseDuration(timeframe.duration);
  // `checkValidity` lets none of these be stored. Should one turn up all the same, it stays shut.
  if (start === null || interval === undefined || duration === undefined) return false;
  const { instant: opened } = lastWindowStart(start, interval, moment);
  return opened <= moment.now && moment.now < addDuration(moment.timeZone, opened, duration, 1);
}

/** The latest start + k · interval that is not after now. Windows with a later start end later too. */
export function lastWindowStart(
  start: number,
  interval: Duration,
  { now, timeZone }: TimeContext,
): { readonly instant: number; readonly count: number } {
  const startOf = (k: number): number => addDuration(timeZone, start, interval, k);
  let k = Math.max(0, Math.floor((now - start) / averageMs(interval)));
  // Months differ in length and days in hours, so the average is a few windows off at most.
  while (k > 0 && startOf(k) > now) k -= 1;
  while (startOf(k + 1) <= now) k += 1;
  return { instant: startOf(k), count: k };
}

const AVERAGE_DAYS_PER_MONTH = 30.436_875;

const averageMs = (duration: Duration): number =>
  (duration.months * AVERAGE_DAYS_PER_MONTH + duration.days) * MS_PER_DAY + duration.ms;

export const includesDay = (daysOfWeek: readonly number[], weekday: number): boolean =>
  daysOfWeek.length === 0 || daysOfWeek.includes(weekday);

/** Both ends are inside: 14:00:00.000 is the last instant of 12:00–14:00. */
function covers(entry: DailyHours, { msOfDay, weekday }: LocalTime): boolean {
  const from = msOf(entry.startTime);
  const to = msOf(entry.expirationTime);
  if (from <= to) return includesDay(entry.daysOfWeek, weekday) && from <= msOfDay && msOfDay <= to;
  const yesterday = (weekday + 6) % 7;
  return (
    (msOfDay >= from && includesDay(entry.daysOfWeek, weekday)) ||
    (msOfDay <= to && includesDay(entry.daysOfWeek, yesterday))
  );
}

const msOf = (time: string): number => minutesOf(time) * 60_000;

export const minutesOf = (time: string): number =>
  Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/**
 * Tells what is wrong with limits that somebody wants to store, in the words of the API, or answers
 * null. Checks the object as it would be stored, so that an update of one field sees the others.
 */
export function checkValidity(validity: Validity): string | null {
  const { timeframe, daysOfWeek, hours, startDate, expirationDate } = validity;
  if (startDate !== null && expirationDate !== null && expirationDate < startDate) {
    return "Property .expiration_date must not be before .start_date";
  }
  if (timeframe !== null) {
    if (startDate === null) return "Property .validity_timeframe requires .start_date";
    for (const field of ["interval", "duration"] as const) {
      if (parseDuration(timeframe[field]) === undefined) {
        return `Property .validity_timeframe.${field} must be an ISO 8601 duration above zero`;
      }
    }
  }
  if (daysOfWeek?.some((day) => !isWeekday(day))) {
    return "Property .validity_day_of_week must hold numbers from 0 (Sunday) to 6 (Saturday)";
  }
  if (hours === null) return null;
  if (timeframe !== null || daysOfWeek !== null) {
    return "Property .validity_hours cannot be combined with .validity_timeframe or .validity_day_of_week";
  }
  return checkHours(hours.daily);
}

function checkHours(daily: readonly DailyHours[]): string | null {
  for (const [index, entry] of daily.entries()) {
    const path = `.validity_hours.daily[${index}]`;
    if (!isTimeOfDay(entry.startTime))
      return `Property ${path}.start_time must be written as HH:mm`;
    if (!isTimeOfDay(entry.expirationTime)) {
      return `Property ${path}.expiration_time must be written as HH:mm`;
    }
    if (entry.startTime === entry.expirationTime) {
      return `Property ${path}.expiration_time must differ from .start_time`;
    }
    if (entry.daysOfWeek.some((day) => !isWeekday(day))) {
      return `Property ${path}.days_of_week must hold numbers from 0 (Sunday) to 6 (Saturday)`;
    }
  }
  return haveOverlap(daily) ? "Property .validity_hours must not have overlapping entries" : null;
}

const isWeekday = (day: number): boolean => Number.isInteger(day) && day >= 0 && day <= 6;

const isTimeOfDay = (time: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(time);

const MINUTES_PER_DAY = 1440;
const MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY;

/**
 * Lays all entries on the line of one week. Entries that only touch (12:00–14:00, 14:00–16:00) are
 * what a shop means by two periods in a row, and do not overlap.
 */
function haveOverlap(daily: readonly DailyHours[]): boolean {
  const spans = daily.flatMap((entry) => spansOf(entry)).toSorted((a, b) => a.from - b.from);
  const first = spans[0];
  if (first === undefined) return false;
  const aroundTheWeek = [...spans, { from: first.from + MINUTES_PER_WEEK, to: 0 }];
  return spans.some((span, index) => span.to > (aroundTheWeek[index + 1]?.from ?? Infinity));
}

function spansOf(entry: DailyHours): { readonly from: number; readonly to: number }[] {
  const from = minutesOf(entry.startTime);
  const end = minutesOf(entry.expirationTime);
  const to = end < from ? end + MINUTES_PER_DAY : end;
  const days = entry.daysOfWeek.length === 0 ? [0, 1, 2, 3, 4, 5, 6] : new Set(entry.daysOfWeek);
  return [...days].map((day) => ({
    from: day * MINUTES_PER_DAY + from,
    to: day * MINUTES_PER_DAY + to,
  }));
}
