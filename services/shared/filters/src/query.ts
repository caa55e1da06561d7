import { ApiError } from "@scrip/errors";
import type { TimeContext } from "@scrip/rules";

import { compileFilters } from "./compile.ts";
import { Violation } from "./condition.ts";
import type { FilterFields } from "./fields.ts";
import type { Operator } from "./operators.ts";
import { textOf } from "./scalars.ts";
import { readTree } from "./tree.ts";

export type FilterQuery = {
  readonly fields: FilterFields;
  /** The time and calendar to evaluate. */
  readonly call: { readonly now: number; readonly project: Omit<TimeContext, "now"> };
  /** Values bound so far; the values of the filters are appended. */
  readonly values: unknown[];
};

/** The SQL condition of the `filters` of a list request; rejects invalid ones. */
export function filterCondition(filters: unknown, { fields, call, values }: FilterQuery): string {
  const { now, project } = call;
  const compiled = compileFilters(filters ?? {}, {
    fields,
    now,
    timeZone: project.timeZone,
    firstWeekday: project.firstWeekday,
    values,
  });
  if (compiled.kind === "violation") {
    throw new ApiError("invalid_query_params", { details: compiled.text });
  }
  return compiled.text;
}

/** The different operands of an operator on a field, for what must be known before the filters are compiled; none if they are invalid. */
export function operandsIn(filters: unknown, name: string, operator: Operator): readonly string[] {
  try {
    const { fields } = readTree(filters ?? {});
    const conditions = fields.find((field) => field.name === name)?.conditions ?? [];
    const operands = conditions.filter((one) => one.operator === operator);
    return [...new Set(operands.flatMap((one) => one.operands.map(textOf)))];
  } catch (error) {
    if (error instanceof Violation) return [];
    throw error;
  }
}
