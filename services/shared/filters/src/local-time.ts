import { localTimeAt, type LocalTime } from "@scrip/rules";

import { type TimeContext, MS_PER_DAY } from "./condition.ts";

type Seen = { readonly times: Map<number, LocalTime>; inUtc?: TimeContext };

/**
 * What was worked out for a moment. Calendars are slow, and a hundred filters that look at one record
 * from one moment ask for the same few instants.
 */
const seen = new WeakMap<TimeContext, Seen>();

function seenFrom(moment: TimeContext): Seen {
  const known = seen.get(moment);
  if (known !== undefined) return known;
  const fresh: Seen = { times: new Map() };
  seen.set(moment, fresh);
  return fresh;
}

/** What the clocks of the project show at an instant. */
export function localTime(instant: number, moment: TimeContext): LocalTime {
  const { times } = seenFrom(moment);
  const known = times.get(instant);
  if (known !== undefined) return known;
  const time = localTimeAt(moment.timeZone, instant);
  // A moment that looks at many records is nobody's in particular: it is not remembered for long.
  if (times.size >= MAX_INSTANTS) times.clear();
  times.set(instant, time);
  return time;
}

const MAX_INSTANTS = 1_000;

/** The moment when clocks of UTC show what those of the project do now. */
export function inUtc(moment: TimeContext): TimeContext {
  const { epochDay, msOfDay } = localTime(moment.now, moment);
  return (seenFrom(moment).inUtc ??= {
    now: epochDay * MS_PER_DAY + msOfDay,
    timeZone: "UTC",
    firstWeekday: moment.firstWeekday,
  });
}
