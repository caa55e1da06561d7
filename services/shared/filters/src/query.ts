import { ApiError } from "@scrip/errors";
import type { TimeContext } from "@scrip/rules";

import { compileFilters } from "./compile.ts";
import type { FilterFields } from "./fields.ts";

export type FilterQuery = {
  readonly fields: FilterFields;
  /** Whose present and calendar count. */
  readonly call: { readonly now: number; readonly project: Omit<TimeContext, "now"> };
  /** What is bound so far; the values of the filters go behind it. */
  readonly values: unknown[];
};

/** The condition that the `filters` of a list ask for; wrong ones are refused. */
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
