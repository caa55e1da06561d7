import type { ExpirationRules, ExpiryRounding } from "@scrip/rules";

import { addMonths, clampedDate, lastDayOf, type LocalDate, partsOf } from "./local-date.ts";

/** The last day on which points can be spent that are credited on this date; null: they never expire. */
export function expiryDate(rules: ExpirationRules | null, creditedOn: LocalDate): LocalDate | null {
  if (rules === null) return null;
  if (rules.type === "FIXED_DAY_OF_YEAR") return nextFixedDay(rules, creditedOn);
  return roundUp(addMonths(creditedOn, rules.months), rules.rounding);
}

function nextFixedDay(
  { month, day }: { readonly month: number; readonly day: number },
  from: LocalDate,
): LocalDate {
  const { year } = partsOf(from);
  const thisYear = clampedDate(year, month, day);
  return thisYear >= from ? thisYear : clampedDate(year + 1, month, day);
}

const MONTHS_OF_PERIOD = {
  END_OF_MONTH: 1,
  END_OF_QUARTER: 3,
  END_OF_HALF_YEAR: 6,
  END_OF_YEAR: 12,
};

function roundUp(date: LocalDate, rounding: ExpiryRounding | null): LocalDate {
  if (rounding === null) return date;
  const { year, month } = partsOf(date);
  if (rounding.type === "PARTICULAR_MONTH") {
    return lastDayOf(month <= rounding.month ? year : year + 1, rounding.month);
  }
  const months = MONTHS_OF_PERIOD[rounding.type];
  return lastDayOf(year, Math.ceil(month / months) * months);
}
