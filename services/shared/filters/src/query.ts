import { Refusal } from "@scrip/errors";

import { compileFilters } from "./compile.ts";
import type { FilterFields } from "./fields.ts";

export type FilterQuery = {
  readonly fields: FilterFields;
  /** Whose present and time zone count. */
  readonly call: { readonly now: number; readonly project: { readonly timeZone: string } };
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
    values,
  });
  if (compiled.kind === "violation") {
    throw new Refusal("invalid_query_params", { details: compiled.text });
  }
  return compiled.text;
}
