import type { Condition, FilterContext } from "./condition.ts";
import { compileDate, DISTANCES, isWholeNumber, MAX_DAYS } from "./dates.ts";
import type { Bind } from "./fields.ts";
import { isDateSql, microsOfText, zonedSql } from "./iso-date.ts";
import { inUtc } from "./local-time.ts";
import { dateTest } from "./record-dates.ts";
import type { ScalarCondition, ValueTest } from "./record-scalars.ts";
import { jsonText } from "./scalars.ts";

/**
 * Conditions of dates on JSON, which has no type for them: text that is an ISO date or date-time is read as one, other
 * values do not match. Undefined for operators that dates do not have.
 */
export function compileJsonDate(
  condition: Condition,
  context: FilterContext,
  bind: Bind,
): string | undefined {
  const text = jsonText(condition.field.sql);
  const instant = `date_trunc('milliseconds', ${zonedSql(text)}::timestamptz)`;
  const at = (sql: string): Condition => ({ ...condition, field: { type: "date", sql } });
  const ofInstant = compileDate(at(instant), context, bind);
  const ofDay = compileDay(at(text), context, bind);
  if (ofInstant === undefined || ofDay === undefined) return undefined;
  return `case when ${isDateSql(text)}
               then case when length(${text}) = ${DAY_LENGTH} then ${ofDay} else ${ofInstant} end
               else false end`;
}

/** A day without a time zone: the calendar of the project, read as if it were UTC. */
export function compileDay(
  condition: Condition,
  context: FilterContext,
  bind: Bind,
): string | undefined {
  const { field } = condition;
  const sql = `((${field.sql})::timestamp at time zone 'UTC')`;
  const time = inUtc(context);
  return compileDate({ ...condition, field: { ...field, sql } }, { ...context, ...time }, bind);
}

/** The condition of `compileJsonDate` for values in memory. */
export function jsonDateTest(condition: ScalarCondition): ValueTest | undefined {
  const test = dateTest(condition);
  return (
    test &&
    ((value, time) => {
      const micros = typeof value === "string" ? microsOfText(value) : undefined;
      if (micros === undefined) return false;
      const at = Math.floor(Number(micros) / 1000);
      return test(at, (value as string).length === DAY_LENGTH ? inUtc(time) : time);
    })
  );
}

/** Of YYYY-MM-DD; a date-time is longer. */
const DAY_LENGTH = 10;

/** Operators that compare numbers with the operand, and the age of dates if it can be a number of days. */
export const comparesAges = ({
  operator,
  operands,
}: Pick<Condition, "operator" | "operands">): boolean =>
  DISTANCES.has(operator) && isWholeNumber(operands[0], MAX_DAYS);
