import { parseDuration } from "../time/duration.ts";
import { type DailyHours, type Validity, minutesOf } from "./validity.ts";

/**
 * Returns what is wrong with time limits, in the words of the API, or null. Checks the object as it
 * would be stored, so that an update of one field sees the others.
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
 * Lays all entries on the line of one week. Adjacent entries (12:00–14:00, 14:00–16:00) are two
 * periods in a row, and do not overlap.
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
