import { isDateText } from "../../formula/dates.ts";
import type { MetadataValue } from "../../formula/value.ts";
import { checkValidity } from "../../validity/check-validity.ts";
import type { Validity } from "../../validity/validity.ts";
import type { Window, WindowOperator } from "../model/condition.ts";

export type ParsedWindow =
  | { readonly kind: "window"; readonly window: Window }
  | { readonly kind: "violation"; readonly text: string };

/** Parses the operands of operators on time windows. */
export function parseWindow(
  operator: WindowOperator,
  operands: readonly MetadataValue[],
): ParsedWindow {
  if (operator === "$dow") return parseWeekdays(operands);
  const [text] = operands;
  if (operands.length !== 1 || typeof text !== "string" || text.length > MAX_TEXT) {
    return violation(`needs one operand, a text such as "${EXAMPLES[operator]}"`);
  }
  const parts = text.split(";").map((part) => part.trim());
  const window = windowOf(operator, parts);
  return window === null || !canBeStored(window)
    ? violation(`needs one operand, a text such as "${EXAMPLES[operator]}"`)
    : { kind: "window", window };
}

const MAX_TEXT = 200;

const EXAMPLES = {
  $timeframe: "2026-03-01;P2D;P1D",
  $timeframe_absolute: "2026-03-01;2026-03-31",
  $timeframe_daily_hours: "18:00;20:00;1,2,3",
} as const;

const UNLIMITED: Window = {
  start: null,
  end: null,
  timeframe: null,
  daysOfWeek: null,
  hours: null,
};

function parseWeekdays(operands: readonly MetadataValue[]): ParsedWindow {
  const daysOfWeek = operands.flatMap((day) => (isWeekday(day) ? [day] : []));
  return daysOfWeek.length === operands.length
    ? { kind: "window", window: { ...UNLIMITED, daysOfWeek } }
    : violation("needs numbers from 0 (Sunday) to 6 (Saturday)");
}

function windowOf(
  operator: Exclude<WindowOperator, "$dow">,
  [first = "", second = "", third = "", ...others]: readonly string[],
): Window | null {
  if (others.length > 0) return null;
  switch (operator) {
    case "$timeframe":
      return isDateText(first)
        ? { ...UNLIMITED, start: first, timeframe: { interval: second, duration: third } }
        : null;
    case "$timeframe_absolute":
      return isDateText(first) && isDateText(second) && third === ""
        ? { ...UNLIMITED, start: first, end: second }
        : null;
    case "$timeframe_daily_hours": {
      const daysOfWeek = third === "" ? [] : third.split(",").map(Number);
      if (!daysOfWeek.every(isWeekday)) return null;
      return {
        ...UNLIMITED,
        hours: { daily: [{ startTime: first, expirationTime: second, daysOfWeek }] },
      };
    }
    default:
      return operator satisfies never;
  }
}

/** Durations and times of day follow the rules of validity limits. */
function canBeStored({ timeframe, hours }: Window): boolean {
  const limits: Validity = {
    startDate: timeframe === null ? null : 0,
    expirationDate: null,
    timeframe,
    daysOfWeek: null,
    hours,
  };
  return checkValidity(limits) === null;
}

const isWeekday = (day: unknown): day is number =>
  typeof day === "number" && Number.isInteger(day) && day >= 0 && day <= 6;

const violation = (text: string): ParsedWindow => ({ kind: "violation", text });
