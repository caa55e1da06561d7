import type { TierPeriod, TierPolicy, TierRounding } from "@scrip/rules";

import {
  addDays,
  addMonths,
  clampedDate,
  lastDayOf,
  type LocalDate,
  partsOf,
} from "../local-date.ts";

const MONTHS: Readonly<Record<TierPeriod, number>> = {
  MONTH: 1,
  QUARTER: 3,
  HALF_YEAR: 6,
  YEAR: 12,
};

/** The first day of the calendar period that a date is in. */
export function startOfTierPeriod(period: TierPeriod, date: LocalDate): LocalDate {
  const { year, month } = partsOf(date);
  const months = MONTHS[period];
  return clampedDate(year, Math.floor((month - 1) / months) * months + 1, 1);
}

export const startOfNextTierPeriod = (period: TierPeriod, date: LocalDate): LocalDate =>
  addMonths(startOfTierPeriod(period, date), MONTHS[period]);

const endOfTierPeriod = (period: TierPeriod, date: LocalDate): LocalDate =>
  addDays(startOfNextTierPeriod(period, date), -1);

/** The last day of a tier that starts on this date; null: it ends with the balance that it needs. */
export function tierExpiry({ expiration, period }: TierPolicy, start: LocalDate): LocalDate | null {
  if (expiration.type === "BALANCE_DROP") return null;
  const { type, extend, rounding } = expiration;
  const base =
    type === "CUSTOM"
      ? start
      : endOfTierPeriod(
          period,
          type === "END_OF_PERIOD" ? start : startOfNextTierPeriod(period, start),
        );
  const extended = extend === null ? base : addDays(addMonths(base, extend.months), extend.days);
  const rounded = rounding === null ? extended : round(extended, rounding);
  // A tier lasts at least for the day on which it starts.
  return rounded < start ? start : rounded;
}

function round(date: LocalDate, { to, strategy }: TierRounding): LocalDate {
  if ("period" in to) {
    return strategy === "END"
      ? endOfTierPeriod(to.period, date)
      : startOfTierPeriod(to.period, date);
  }
  const { year, month } = partsOf(date);
  const inYear = month <= to.month ? year : year + 1;
  return strategy === "END" ? lastDayOf(inYear, to.month) : clampedDate(inYear, to.month, 1);
}
