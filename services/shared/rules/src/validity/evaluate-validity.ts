import { MS_PER_DAY } from "../time/civil.ts";
import { type Duration, parseDuration } from "../time/duration.ts";
import type { TimeContext } from "../time/time-context.ts";
import { type LocalTime, addDuration, localTimeAt } from "../time/time-zone.ts";
import { type DailyHours, type Validity, type ValidityStatus, minutesOf } from "./validity.ts";

/**
 * Evaluates the time limits of an object that may have a parent, such as a voucher of a campaign
 * (docs/time-limits.md#start-and-expiration). Both start dates count; the end date and each
 * recurring limit of the object replace those of the parent, one by one.
 */
export function evaluateValidity(
  own: Validity,
  parent: Validity | null,
  time: TimeContext,
): ValidityStatus {
  const { now } = time;
  if (own.startDate !== null && now < own.startDate) return "not_started";
  if (parent !== null && parent.startDate !== null && now < parent.startDate) return "not_started";
  const expirationDate = own.expirationDate ?? parent?.expirationDate ?? null;
  if (expirationDate !== null && now > expirationDate) return "ended";
  return isInsideWindows(own, parent, time) ? "open" : "outside_window";
}

/** Whether an object has started and has not expired, whatever its recurring limits. */
export const isWithinDates = (
  { startDate, expirationDate }: Pick<Validity, "startDate" | "expirationDate">,
  now: number,
): boolean =>
  (startDate === null || now >= startDate) && (expirationDate === null || now <= expirationDate);

function isInsideWindows(own: Validity, parent: Validity | null, time: TimeContext): boolean {
  if (!isInsideTimeframe(own, parent, time)) return false;
  const daysOfWeek = own.daysOfWeek ?? parent?.daysOfWeek ?? null;
  const hours = own.hours ?? parent?.hours ?? null;
  if (daysOfWeek === null && hours === null) return true;
  const local = localTimeAt(time.timeZone, time.now);
  if (daysOfWeek !== null && !includesDay(daysOfWeek, local.weekday)) return false;
  return hours === null || isInsideHours(hours, local);
}

/** Evaluates happy hours (`validity_hours`). docs/time-limits.md#happy-hours */
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
  time: TimeContext,
): boolean {
  const timeframe = own.timeframe ?? parent?.timeframe ?? null;
  if (timeframe === null) return true;
  const start = timeframeStart(own, parent);
  const interval = parseDuration(timeframe.interval);
  const duration = parseDuration(timeframe.duration);
  // `checkValidity` rejects all of these before storing. If one exists nevertheless, the window is
  // closed.
  if (start === null || interval === undefined || duration === undefined) return false;
  const { instant: opened } = lastWindowStart(start, interval, time);
  return opened <= time.now && time.now < addDuration(time.timeZone, opened, duration, 1);
}

/**
 * The latest start + k · interval that is not after now. Windows with a later start end later too.
 */
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

/** Both ends are inclusive: 14:00:00.000 is the last instant of 12:00–14:00. */
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
