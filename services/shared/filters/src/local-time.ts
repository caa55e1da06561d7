import { localTimeAt, type LocalTime, type TimeContext } from "@scrip/rules";

import { MS_PER_DAY } from "./condition.ts";

/** The time for a condition. `readAs`: instants are local times of this zone, read as if they were UTC. */
export type ConditionTime = TimeContext & { readonly readAs?: string };

type Conversions = { readonly localTimes: Map<number, LocalTime>; inUtc?: ConditionTime };

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
export function inUtc(time: TimeContext): ConditionTime {
  return (conversionsAt(time).inUtc ??= {
    now: readAsUtc(time.now, time.timeZone),
    timeZone: "UTC",
    readAs: time.timeZone,
    firstWeekday: time.firstWeekday,
  });
}

/** The instant at which UTC clocks show the local time of an instant. */
export function readAsUtc(instant: number, timeZone: string): number {
  const { epochDay, msOfDay } = localTimeAt(timeZone, instant);
  return epochDay * MS_PER_DAY + msOfDay;
}
