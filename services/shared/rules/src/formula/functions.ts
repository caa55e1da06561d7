import {
  type Decimal,
  type RoundingMode,
  compareDecimals,
  powerOf,
  roundDecimal,
  wholeOf,
} from "@scrip/money";

import { civilFromDays } from "../time/civil.ts";
import type { TimeContext } from "../time/time-context.ts";
import { parseDay, epochDayAt, monthsBetween, readDate, parseInstant } from "./dates.ts";
import { type FormulaValue, countValue, dateValue, failure, numberValue } from "./value.ts";

export type BuiltIn = {
  readonly min: number;
  readonly max: number;
  /** null for a function that evaluates its arguments itself. */
  readonly apply: ((values: readonly FormulaValue[], time: TimeContext) => FormulaValue) | null;
};

/** The functions that formulas may call; the table is fixed. */
export const BUILT_INS: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ["IF", { min: 3, max: 3, apply: null }],
  ["DEFAULT_TO", { min: 2, max: Infinity, apply: null }],
  ["MIN", { min: 1, max: Infinity, apply: extreme(-1) }],
  ["MAX", { min: 1, max: Infinity, apply: extreme(1) }],
  ["POW", { min: 2, max: 2, apply: ofNumbers(powerOf) }],
  ["ROUND", { min: 2, max: 2, apply: ofNumbers(roundTo("HALF_UP")) }],
  ["FLOOR", { min: 2, max: 2, apply: ofNumbers(roundTo("DOWN")) }],
  ["CEIL", { min: 2, max: 2, apply: ofNumbers(roundTo("UP")) }],
  ["DATE", { min: 1, max: 1, apply: ofText(parseDay) }],
  ["DATE_TIME", { min: 1, max: 1, apply: ofText(parseInstant) }],
  ["DAY_OF_MONTH", { min: 1, max: 1, apply: ofDay((day) => civilFromDays(day).day) }],
  ["MONTH", { min: 1, max: 1, apply: ofDay((day) => civilFromDays(day).month) }],
  ["YEAR", { min: 1, max: 1, apply: ofDay((day) => civilFromDays(day).year) }],
  ["DAYS_SINCE", { min: 1, max: 1, apply: ofDay((day, today) => today - day) }],
  ["MONTHS_SINCE", { min: 1, max: 1, apply: ofDay(monthsBetween) }],
  ["YEARS_SINCE", { min: 1, max: 1, apply: ofDay(yearsBetween) }],
  ["DAYS_UNTIL", { min: 1, max: 1, apply: ofDay((day, today) => day - today) }],
  ["MONTHS_UNTIL", { min: 1, max: 1, apply: ofDay((day, today) => monthsBetween(today, day)) }],
]);

function yearsBetween(from: number, to: number): number {
  return Math.trunc(monthsBetween(from, to) / 12);
}

/** The largest of some numbers when `sign` is 1, the smallest when it is -1. */
function extreme(sign: 1 | -1) {
  return (values: readonly FormulaValue[]): FormulaValue => {
    let found: Decimal | undefined;
    for (const value of values) {
      if (value.kind !== "number") return notANumber(value);
      if (found === undefined || compareDecimals(value.value, found) * sign > 0)
        found = value.value;
    }
    return found === undefined ? failure("nothing to compare") : numberValue(found);
  };
}

function roundTo(mode: RoundingMode) {
  return (value: Decimal, places: Decimal): Decimal | undefined => {
    const whole = wholeOf(places);
    if (whole === undefined || whole < -40n || whole > 40n) return undefined;
    return roundDecimal(value, Number(whole), mode);
  };
}

function ofNumbers(calculate: (a: Decimal, b: Decimal) => Decimal | undefined) {
  return ([a, b]: readonly FormulaValue[]): FormulaValue => {
    if (a?.kind !== "number") return notANumber(a);
    if (b?.kind !== "number") return notANumber(b);
    const result = calculate(a.value, b.value);
    return result === undefined ? failure("a result is out of range") : numberValue(result);
  };
}

function ofText(read: (text: string, timeZone: string) => number | undefined) {
  return ([value]: readonly FormulaValue[], { timeZone }: TimeContext): FormulaValue => {
    if (value?.kind === "failure") return value;
    const instant = value?.kind === "text" ? read(value.value, timeZone) : undefined;
    return instant === undefined ? failure("a text is not a date") : dateValue(instant);
  };
}

/** Functions of a calendar day and today, both in epoch days. */
function ofDay(count: (day: number, today: number) => number) {
  return ([value]: readonly FormulaValue[], time: TimeContext): FormulaValue => {
    const date = readDate(value ?? failure("a date is missing"), time);
    if (date.kind !== "date") return date;
    const { now, timeZone } = time;
    const days = count(epochDayAt(date.instant, timeZone), epochDayAt(now, timeZone));
    return countValue(BigInt(days));
  };
}

export function notANumber(value: FormulaValue | undefined): FormulaValue {
  if (value?.kind === "failure") return value;
  return failure(`a ${value?.kind ?? "missing value"} is not a number`);
}
