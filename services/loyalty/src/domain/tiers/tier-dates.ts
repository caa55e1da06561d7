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
  return rounding === null ? extended : roundUp(extended, rounding);
}

/** The first or last day of a period, on this date or the next one after it. */
function roundUp(date: LocalDate, { to, strategy }: TierRounding): LocalDate {
  if ("period" in to) {
    if (strategy === "END") return endOfTierPeriod(to.period, date);
    const start = startOfTierPeriod(to.period, date);
    return start === date ? date : startOfNextTierPeriod(to.period, date);
  }
  const { year } = partsOf(date);
  const dayIn = (inYear: number): LocalDate =>
    strategy === "END" ? lastDayOf(inYear, to.month) : clampedDate(inYear, to.month, 1);
  return dayIn(year) < date ? dayIn(year + 1) : dayIn(year);
}
