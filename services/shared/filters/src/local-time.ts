import { localTimeAt, type LocalTime, type TimeContext } from "@scrip/rules";

import { MS_PER_DAY } from "./condition.ts";

type Conversions = { readonly localTimes: Map<number, LocalTime>; inUtc?: TimeContext };

/**
 * Conversions by time context. Calendars are slow, and a hundred filters that evaluate one record at one
 * time convert the same few instants.
 */
const cache = new WeakMap<TimeContext, Conversions>();

function conversionsAt(time: TimeContext): Conversions {
  const cached = cache.get(time);
  if (cached !== undefined) return cached;
  const conversions: Conversions = { localTimes: new Map() };
  cache.set(time, conversions);
  return conversions;
}

/** The local date and time of the project at an instant. */
export function localTime(instant: number, time: TimeContext): LocalTime {
  const { localTimes } = conversionsAt(time);
  const cached = localTimes.get(instant);
  if (cached !== undefined) return cached;
  const local = localTimeAt(time.timeZone, instant);
  // A context that evaluates many records must not hold the instants of all of them.
  if (localTimes.size >= MAX_INSTANTS) localTimes.clear();
  localTimes.set(instant, local);
  return local;
}

const MAX_INSTANTS = 1_000;

/** The instant at which UTC clocks show the present local time of the project. */
export function inUtc(time: TimeContext): TimeContext {
  const { epochDay, msOfDay } = localTime(time.now, time);
  return (conversionsAt(time).inUtc ??= {
    now: epochDay * MS_PER_DAY + msOfDay,
    timeZone: "UTC",
    firstWeekday: time.firstWeekday,
  });
}
