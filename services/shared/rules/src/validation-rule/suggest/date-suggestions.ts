import { epochDayAt, readDate } from "../../formula/dates.ts";
import type { KnownValue } from "../../formula/value.ts";
import type { TimeContext } from "../../time/time-context.ts";
import { instantAt, formatInstant } from "../../time/time-zone.ts";
import { meetsAll } from "../evaluate/meets-conditions.ts";
import type { Condition, OrderOperator } from "../model/condition.ts";

/**
 * The start of the first future day on which the date meets all conditions on its distance from
 * today; null when waiting does not help.
 */
export function firstMatchingDay(
  value: KnownValue | null,
  conditions: readonly Condition[],
  time: TimeContext,
): number | null {
  const instant = instantIn(value, time);
  if (instant === undefined) return null;
  const { timeZone } = time;
  const [own, today] = [epochDayAt(instant, timeZone), epochDayAt(time.now, timeZone)];
  const days = conditions
    .flatMap((condition) => (condition.kind === "days" ? turningDays(own, condition.days) : []))
    .filter((day) => day > today)
    .toSorted((a, b) => a - b)
    .map((day) => instantAt(timeZone, day, 0));
  return days.find((now) => meetsAll(value, conditions, { now, timeZone })) ?? null;
}

/** Days on which the distance to the date passes its operand. */
const turningDays = (own: number, days: number): readonly number[] => [
  own,
  own - days,
  own - days + 1,
  own + days,
  own + days + 1,
];

/** The dates that would meet the conditions, in words; empty without conditions on dates. */
export const expectedDates = (
  value: KnownValue | null,
  conditions: readonly Condition[],
  time: TimeContext,
): readonly string[] =>
  conditions.flatMap((condition) => {
    if (condition.kind !== "order" || condition.operand.kind !== "text") return [];
    const operand = instantIn(condition.operand, time);
    if (operand === undefined || meetsAll(value, [condition], time)) return [];
    return [`${WORDS[condition.operator]} ${formatInstant(operand)}`];
  });

const WORDS: Readonly<Record<OrderOperator, string>> = {
  $after: "a date after",
  $more_than: "a date after",
  $more_than_or_equal: "a date from",
  $before: "a date before",
  $less_than: "a date before",
  $less_than_or_equal: "a date up to",
};

function instantIn(value: KnownValue | null, time: TimeContext): number | undefined {
  const date = value === null ? undefined : readDate(value, time);
  return date?.kind === "date" ? date.instant : undefined;
}
