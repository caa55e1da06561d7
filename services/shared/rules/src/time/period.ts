import { civilFromDays, daysFromCivil, weekdayOf } from "./civil.ts";
import type { TimeContext } from "./time-context.ts";
import { instantAt, localTimeAt } from "./time-zone.ts";

export type Period = "day" | "week" | "month";

const MONDAY = 1;

/** The start of the current calendar day, week or month of the project. */
export function startOfPeriod(
  period: Period,
  { now, timeZone, firstWeekday }: TimeContext,
): number {
  const today = localTimeAt(timeZone, now).epochDay;
  return instantAt(timeZone, firstDay(period, today, firstWeekday), 0);
}

/** The start of the next calendar day, week or month of the project. */
export function startOfNextPeriod(
  period: Period,
  { now, timeZone, firstWeekday }: TimeContext,
): number {
  const first = firstDay(period, localTimeAt(timeZone, now).epochDay, firstWeekday);
  // Long enough to reach the next period, and too short for the one after it.
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
