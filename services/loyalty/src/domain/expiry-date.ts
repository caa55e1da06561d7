import { addMonths, clampedDate, lastDayOf, type LocalDate, partsOf } from "./local-date.ts";

/** How the date of a MONTH rule is moved to the end of a period; `month` counts from 1. */
export type ExpiryRounding =
  | { readonly type: "END_OF_MONTH" | "END_OF_QUARTER" | "END_OF_HALF_YEAR" | "END_OF_YEAR" }
  | { readonly type: "PARTICULAR_MONTH"; readonly month: number };

/** When points expire that are credited on a date (docs/loyalty.md#expiration). */
export type ExpirationRules =
  | {
      readonly type: "MONTH";
      /** Number of months, from 0. */
      readonly months: number;
      readonly rounding: ExpiryRounding | null;
    }
  | { readonly type: "FIXED_DAY_OF_YEAR"; readonly month: number; readonly day: number };

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
