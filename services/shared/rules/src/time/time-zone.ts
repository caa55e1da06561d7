import { MS_PER_DAY, civilFromDays, daysFromCivil, daysInMonth, weekdayOf } from "./civil.ts";
import type { Duration } from "./duration.ts";

/** A local date and time: days since 1970-01-01, and the time of that day. */
export type LocalTime = {
  readonly epochDay: number;
  readonly msOfDay: number;
  /** 0 is Sunday. */
  readonly weekday: number;
};

/** An IANA name, or a fixed offset written as `GMT+2`, `UTC-03:30` or `+05:30`. */
export function isTimeZone(timeZone: string): boolean {
  try {
    offsetAt(timeZone, 0);
    return true;
  } catch {
    return false;
  }
}

export function localTimeAt(timeZone: string, instant: number): LocalTime {
  const local = instant + offsetAt(timeZone, instant);
  const epochDay = Math.floor(local / MS_PER_DAY);
  return { epochDay, msOfDay: local - epochDay * MS_PER_DAY, weekday: weekdayOf(epochDay) };
}

/** Formats an instant as the API does: ISO 8601 with milliseconds, in UTC. */
export function formatInstant(instant: number): string {
  const epochDay = Math.floor(instant / MS_PER_DAY);
  const { year, month, day } = civilFromDays(epochDay);
  const ms = instant - epochDay * MS_PER_DAY;
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const time = `${padded(hours, 2)}:${padded(minutes, 2)}:${padded(Math.floor(ms / 1000) % 60, 2)}`;
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${time}.${padded(ms % 1000, 3)}Z`;
}

const padded = (value: number, length: number): string => String(value).padStart(length, "0");

/**
 * The instant of a local time (docs/time-limits.md#time-zone). A time that occurs twice means the
 * first; a time that the clocks skip means as long after the gap as it lies inside it, so 02:30
 * becomes 03:30, as in java.time, RFC 5545 and Temporal.
 */
export function instantAt(timeZone: string, epochDay: number, msOfDay: number): number {
  const local = epochDay * MS_PER_DAY + msOfDay;
  const before = offsetAt(timeZone, local - MS_PER_DAY);
  const after = offsetAt(timeZone, local + MS_PER_DAY);
  if (before === after || offsetAt(timeZone, local - before) === before) return local - before;
  return offsetAt(timeZone, local - after) === after ? local - after : local - before;
}

/**
 * `instant` plus `times` durations. Months and days move the local calendar and keep the time of
 * day; hours and less are elapsed time. The multiple is applied first, so that monthly from the
 * 31st means the 31st of each month that has one, and otherwise the last day.
 */
export function addDuration(
  timeZone: string,
  instant: number,
  duration: Duration,
  times: number,
): number {
  const elapsed = duration.ms * times;
  if (times === 0 || (duration.months === 0 && duration.days === 0)) return instant + elapsed;
  const local = localTimeAt(timeZone, instant);
  const day = addMonths(local.epochDay, duration.months * times) + duration.days * times;
  return instantAt(timeZone, day, local.msOfDay) + elapsed;
}

function addMonths(epochDay: number, months: number): number {
  if (months === 0) return epochDay;
  const { year, month, day } = civilFromDays(epochDay);
  const monthCount = year * 12 + (month - 1) + months;
  const newYear = Math.floor(monthCount / 12);
  const newMonth = monthCount - newYear * 12 + 1;
  return daysFromCivil({
    year: newYear,
    month: newMonth,
    day: Math.min(day, daysInMonth(newYear, newMonth)),
  });
}

/** Creating a formatter costs a hundred times as much as using one. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Offset of local time from UTC in milliseconds. Throws RangeError for an unknown time zone. */
function offsetAt(timeZone: string, instant: number): number {
  if (timeZone === "UTC") return 0;
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: intlName(timeZone),
      timeZoneName: "longOffset",
    });
    formatters.set(timeZone, formatter);
  }
  return parseOffset(formatter.format(instant));
}

/** Intl accepts offsets as `+02:00` only. */
function intlName(timeZone: string): string {
  const match = /^(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(timeZone);
  if (match === null) return timeZone;
  const [, sign, hours = "", minutes = "00"] = match;
  return `${sign}${hours.padStart(2, "0")}:${minutes}`;
}

/** The formatter ends its text with GMT+01:00, or with +00:09:21 before zones had whole minutes. */
function parseOffset(formatted: string): number {
  const match = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(formatted);
  if (match === null) return 0;
  const [, sign, hours, minutes, seconds = "0"] = match;
  const size = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
  return sign === "-" ? -size : size;
}
