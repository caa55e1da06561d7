import { civilFromDays, daysFromCivil, weekdayOf } from "./civil.ts";
import { instantOf, localTimeAt } from "./time-zone.ts";
import type { Moment } from "./validity.ts";

export type Period = "day" | "week" | "month";

/** When the calendar day, week (from Monday) or month began that the project is in. */
export const startOfPeriod = (period: Period, { now, timeZone }: Moment): number =>
  instantOf(timeZone, firstDay(period, localTimeAt(timeZone, now).epochDay), 0);

/** When the next one begins. */
export function startOfNextPeriod(period: Period, { now, timeZone }: Moment): number {
  const first = firstDay(period, localTimeAt(timeZone, now).epochDay);
  // Long enough to be in the next one, and short enough not to be in the one after it.
  const next = firstDay(period, first + { day: 1, week: 7, month: 31 }[period]);
  return instantOf(timeZone, next, 0);
}

function firstDay(period: Period, epochDay: number): number {
  switch (period) {
    case "day":
      return epochDay;
    case "week":
      return epochDay - ((weekdayOf(epochDay) + 6) % 7);
    case "month": {
      const { year, month } = civilFromDays(epochDay);
      return daysFromCivil({ year, month, day: 1 });
    }
    default:
      return period satisfies never;
  }
}
