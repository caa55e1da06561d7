import { civilFromDays, daysFromCivil, isCivilDay } from "../time/civil.ts";
import type { TimeContext } from "../time/time-context.ts";
import { instantAt, localTimeAt } from "../time/time-zone.ts";
import { type FormulaValue, dateValue, failure } from "./value.ts";

/** A day means its start in the project's time zone; a time must have an offset. */
export function readDate(value: FormulaValue, { timeZone }: TimeContext): FormulaValue {
  if (value.kind === "date" || value.kind === "failure") return value;
  if (value.kind !== "text") return failure(`a ${value.kind} is not a date`);
  const instant = parseDay(value.value, timeZone) ?? parseInstant(value.value);
  return instant === undefined ? failure("a text is not a date") : dateValue(instant);
}

export function parseDay(text: string, timeZone: string): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  if (!isCivilDay({ year, month, day })) return undefined;
  return instantAt(timeZone, daysFromCivil({ year, month, day }), 0);
}

const TIME = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

export function parseInstant(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const instant = isCivilDay({ year, month, day }) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}

/** Whether a text is a day or a time with an offset, in any time zone. */
export const isDateText = (text: string): boolean =>
  parseDay(text, "UTC") !== undefined || parseInstant(text) !== undefined;

export const startOfToday = ({ now, timeZone }: TimeContext): number =>
  instantAt(timeZone, localTimeAt(timeZone, now).epochDay, 0);

/** The calendar day of an instant in the time zone. */
export const epochDayAt = (instant: number, timeZone: string): number =>
  localTimeAt(timeZone, instant).epochDay;

/** Whole months between two days, negative when `to` is earlier. */
export function monthsBetween(from: number, to: number): number {
  if (to < from) return 0 - monthsBetween(to, from);
  const [first, last] = [civilFromDays(from), civilFromDays(to)];
  const months = (last.year - first.year) * 12 + last.month - first.month;
  return last.day < first.day ? months - 1 : months;
}
