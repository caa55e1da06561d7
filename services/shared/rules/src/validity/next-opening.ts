import { parseDuration } from "../time/duration.ts";
import type { TimeContext } from "../time/time-context.ts";
import { addDuration, instantAt, localTimeAt } from "../time/time-zone.ts";
import {
  includesDay,
  isInsideHours,
  isInsideTimeframe,
  lastWindowStart,
  timeframeStart,
} from "./evaluate-validity.ts";
import { type Validity, minutesOf } from "./validity.ts";

/** After so many closed windows, the limits count as never open. */
const MAX_STEPS = 2000;

const MS_PER_HOUR = 3_600_000;

/**
 * The first instant from now on at which the limits are open, as `evaluateValidity` evaluates them;
 * null when they never open again. Each step moves to the next opening of one closed limit, so none
 * is skipped.
 */
export function nextOpening(
  own: Validity,
  parent: Validity | null,
  time: TimeContext,
): number | null {
  const { timeZone } = time;
  const end = own.expirationDate ?? parent?.expirationDate ?? null;
  let now = Math.max(time.now, own.startDate ?? -Infinity, parent?.startDate ?? -Infinity);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (end !== null && now > end) return null;
    const next = nextStep(own, parent, { now, timeZone });
    if (next === null || next === now) return next;
    now = next;
  }
  return null;
}

/** Where the first closed limit opens, or `now` when none is closed; null when one never opens. */
function nextStep(own: Validity, parent: Validity | null, time: TimeContext): number | null {
  const { now, timeZone } = time;
  if (!isInsideTimeframe(own, parent, time)) return nextWindow(own, parent, time);
  const local = localTimeAt(timeZone, now);
  const daysOfWeek = own.daysOfWeek ?? parent?.daysOfWeek ?? null;
  if (daysOfWeek !== null && !includesDay(daysOfWeek, local.weekday)) {
    return instantAt(timeZone, local.epochDay + 1, 0);
  }
  const hours = own.hours ?? parent?.hours ?? null;
  return hours === null || isInsideHours(hours, local) ? now : nextHours(hours, time);
}

function nextWindow(own: Validity, parent: Validity | null, time: TimeContext): number | null {
  const timeframe = own.timeframe ?? parent?.timeframe ?? null;
  const start = timeframeStart(own, parent);
  const interval = timeframe && parseDuration(timeframe.interval);
  if (start === null || !interval) return null;
  if (time.now < start) return start;
  const opened = lastWindowStart(start, interval, time);
  return addDuration(time.timeZone, start, interval, opened.count + 1);
}

/** The next start of an entry in local time, today or on one of the next days. */
function nextHours(
  hours: NonNullable<Validity["hours"]>,
  { now, timeZone }: TimeContext,
): number | null {
  const today = localTimeAt(timeZone, now).epochDay;
  for (let day = today; day <= today + 8; day += 1) {
    const starts = hours.daily.flatMap(({ startTime }) =>
      wallTimes(timeZone, day, minutesOf(startTime) * 60_000),
    );
    const open = starts
      .filter((start) => start > now && isInsideHours(hours, localTimeAt(timeZone, start)))
      .toSorted((a, b) => a - b);
    const [first] = open;
    if (first !== undefined) return first;
  }
  return null;
}

/**
 * The instants of a local time: two where an hour repeats; the end of the gap where the time is
 * skipped.
 */
function wallTimes(timeZone: string, day: number, msOfDay: number): readonly number[] {
  const first = instantAt(timeZone, day, msOfDay);
  const isSkipped = localTimeAt(timeZone, first).msOfDay !== msOfDay;
  if (isSkipped) return [gapEnd(timeZone, first)];
  const second = first + MS_PER_HOUR;
  return localTimeAt(timeZone, second).msOfDay === msOfDay ? [first, second] : [first];
}

/** The clocks change within the hours before an instant that stands for a skipped time. */
function gapEnd(timeZone: string, after: number): number {
  const wallAt = (instant: number): number => {
    const { epochDay, msOfDay } = localTimeAt(timeZone, instant);
    return epochDay * 86_400_000 + msOfDay - instant;
  };
  let before = after - 3 * MS_PER_HOUR;
  let moved = after;
  while (moved - before > 1) {
    const middle = Math.floor((before + moved) / 2);
    if (wallAt(middle) === wallAt(after)) moved = middle;
    else before = middle;
  }
  return moved;
}
