import { civilFromDays, daysFromCivil, daysInMonth, localTimeAt } from "@scrip/rules";

/** A calendar date as `YYYY-MM-DD`; dates compare as strings. */
export type LocalDate = string;

export type YearMonth = { readonly year: number; readonly month: number };

/** The date at this time in a time zone. */
export const localDateAt = (timeZone: string, instant: number): LocalDate =>
  dateOfDay(localTimeAt(timeZone, instant).epochDay);

export const dateOfDay = (epochDay: number): LocalDate => {
  const { year, month, day } = civilFromDays(epochDay);
  return formatDate(year, month, day);
};

export function epochDayOf(date: LocalDate): number {
  const { year, month, day } = partsOf(date);
  return daysFromCivil({ year, month, day });
}

export const addDays = (date: LocalDate, days: number): LocalDate =>
  dateOfDay(epochDayOf(date) + days);

/** The same day of a later month, or the last day of that month when it is shorter. */
export function addMonths(date: LocalDate, months: number): LocalDate {
  const { year, month, day } = partsOf(date);
  return clampedDate(year, month + months, day);
}

/** The last day of a month; months beyond December belong to later years. */
export const lastDayOf = (year: number, month: number): LocalDate => clampedDate(year, month, 31);

/** A date whose month may exceed December, and whose day may exceed its month. */
export function clampedDate(year: number, month: number, day: number): LocalDate {
  const ofYear = { year: year + Math.floor((month - 1) / 12), month: ((month - 1) % 12) + 1 };
  return formatDate(
    ofYear.year,
    ofYear.month,
    Math.min(day, daysInMonth(ofYear.year, ofYear.month)),
  );
}

export function partsOf(date: LocalDate): YearMonth & { readonly day: number } {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return { year, month, day };
}

const formatDate = (year: number, month: number, day: number): LocalDate =>
  `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
