import { civilFromDays, daysFromCivil, weekdayOf } from "./civil.ts";
import type { TimeContext } from "./time-context.ts";
import { instantAt, localTimeAt } from "./time-zone.ts";

export type Period = "day" | "week" | "month";

const MONDAY = 1;

/** When the calendar day, week or month began that the project is in. */
export function startOfPeriod(
  period: Period,
  { now, timeZone, firstWeekday }: TimeContext,
): number {
  const today = localTimeAt(timeZone, now).epochDay;
  return instantAt(timeZone, firstDay(period, today, firstWeekday), 0);
}

/** When the next one begins. */
export function startOfNextPeriod(
  period: Period,
  { now, timeZone, firstWeekday }: TimeContext,
): number {
  const first = firstDay(period, localTimeAt(timeZone, now).epochDay, firstWeekday);
  // Long enough to be in the next one, and short enough not to be in the one after it.
  const next = firstDay(period, first + { day: 1, week: 7, month: 31 }[period], firstWeekday);
  return instantAt(timeZone, next, 0);
}

function firstDay(period: Period, epochDay: number, firstWeekday = MONDAY): number {
  switch (period) {
    case "day":
      return epochDay;
    case "week":
      return epochDay - ((weekdayOf(epochDay) + 7 - firstWeekday) % 7);
    case "month": {
      const { year, month } = civilFromDays(epochDay);
      return daysFromCivil({ year, month, day: 1 });
    }
    default:
      return period satisfies never;
  }
}
