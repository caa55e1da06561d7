import { daysFromCivil } from "@scrip/rules";
import type { TimeContext } from "@scrip/rules";

import { MS_PER_DAY, type Operand, Violation } from "./condition.ts";
import { comparesAges, jsonDateTest } from "./json-dates.ts";
import { inUtc } from "./local-time.ts";
import { dateTest } from "./record-dates.ts";
import { type ScalarCondition, scalarTest, type ValueTest } from "./record-scalars.ts";
import {
  findRecordField,
  type RecordField,
  type RecordFields,
  type RecordValue,
} from "./record.ts";
import { readTree } from "./tree.ts";

/** Whether a record meets the filters at a time. */
export type Predicate<Subject> = (subject: Subject, time: TimeContext) => boolean;

export type CompiledPredicate<Subject> =
  | { readonly kind: "predicate"; readonly matches: Predicate<Subject> }
  /** What is wrong, in the words of the API. */
  | { readonly kind: "violation"; readonly text: string };

/**
 * The filters of `compileFilters` for a record in memory. Both agree: for a row and the record read
 * from it they return the same result.
 */
export function compilePredicate<Subject>(
  filters: unknown,
  fields: RecordFields<Subject>,
): CompiledPredicate<Subject> {
  try {
    return { kind: "predicate", matches: predicateOf(filters, fields) };
  } catch (error) {
    if (error instanceof Violation) return { kind: "violation", text: error.message };
    throw error;
  }
}

function predicateOf<Subject>(filters: unknown, fields: RecordFields<Subject>): Predicate<Subject> {
  const tree = readTree(filters);
  const parts = tree.fields.flatMap(({ name, conditions }): readonly Predicate<Subject>[] => {
    const field = findRecordField(fields, name);
    if (field === undefined) throw new Violation(`Unknown filter field ${name}`);
    const keyOf = (operand: Operand): Operand =>
      typeof operand === "string" && field.keyOf !== undefined ? field.keyOf(operand) : operand;
    const tests = conditions.map(({ operator, operands }) =>
      testOf(field, { name, operator, operands: operands.map(keyOf) }),
    );
    if (tests.length === 0) return [];
    return [
      (subject, time) => {
        const value = field.read(subject) ?? null;
        return tests.every((test) => test(value, time));
      },
    ];
  });
  if (parts.length === 0 || tree.junction === "and") {
    return (subject, time) => parts.every((part) => part(subject, time));
  }
  return (subject, time) => parts.some((part) => part(subject, time));
}

function testOf<Subject>(
  { type }: RecordField<Subject>,
  parsed: Omit<ScalarCondition, "type">,
): ValueTest {
  const condition = { ...parsed, type };
  if (condition.operator === "$has_value") return hasValue;
  if (condition.operator === "$is_unknown") return (value) => !hasValue(value);
  const test = valueTest(condition);
  if (test === undefined) {
    throw new Violation(`Operator ${condition.operator} cannot be used on filter ${parsed.name}`);
  }
  // Unreadable values are rejected now, not at the first record.
  test(null, { now: 0, timeZone: "UTC" });
  return test;
}

const hasValue = (value: RecordValue): boolean => value !== null;

function valueTest(condition: ScalarCondition): ValueTest | undefined {
  if (condition.type === "date") {
    const test = dateTest(condition);
    return test && ((value, time) => test(value as number | null, time));
  }
  if (condition.type === "day") {
    const test = dateTest(condition);
    return test && ((value, time) => test(midnightOf(value as string | null), inUtc(time)));
  }
  const scalar = scalarTest(condition);
  if (condition.type !== "json") return scalar;
  if (scalar === undefined) return jsonDateTest(condition);
  const ofDate = comparesAges(condition) ? jsonDateTest(condition) : undefined;
  return ofDate ? (value, time) => scalar(value, time) || ofDate(value, time) : scalar;
}

function midnightOf(day: string | null): number | null {
  if (day === null) return null;
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return daysFromCivil({ year, month, day: date }) * MS_PER_DAY;
}
