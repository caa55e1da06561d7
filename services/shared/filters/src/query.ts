import { ApiError } from "@scrip/errors";
import type { TimeContext } from "@scrip/rules";

import { compileFilters } from "./compile.ts";
import type { FilterFields } from "./fields.ts";

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
