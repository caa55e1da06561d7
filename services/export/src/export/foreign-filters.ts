import { invalidPayload } from "@scrip/errors";
import { specOf } from "@scrip/exports";
import { compilePredicate, type Predicate, type RecordFields } from "@scrip/filters";

import type { JsonObject } from "../domain/job.ts";
import type { ForeignField } from "./foreign-fields.ts";
import type { ExportPlan } from "./parameters.ts";

/** The values of fields of other services, as text; null is none. */
type ForeignValues = ReadonlyMap<string, string | null>;

/** Which part of the filters the owner of the rows evaluates, and which one needs fields that are looked up. */
export type SplitFilters = {
  readonly own: JsonObject;
  /** Whether the owner returns all rows and marks those that match `own`: a row may match the other part alone. */
  readonly marks: boolean;
  /** Filtered fields of other services. */
  readonly foreign: readonly string[];
  /** Whether a row that the owner returned matches; `isMarked` says whether it matches `own`. */
  readonly matches: (
    values: ForeignValues,
    isMarked: boolean,
    time: Parameters<Predicate<unknown>>[1],
  ) => boolean;
};

/** `known` are the fields of other services. Rejects conditions that they do not have. */
export function splitFilters(
  { object, filters: { junction, ...fields } }: Pick<ExportPlan, "object" | "filters">,
  known: ReadonlyMap<string, ForeignField>,
): SplitFilters {
  const part = (isForeign: boolean): JsonObject =>
    Object.fromEntries(
      Object.entries(fields).filter(
        // A field whose filter is null is not filtered, so with `or` it must not count as an alternative that always
        // matches.
        ([name, conditions]) => conditions !== null && known.has(name) === isForeign,
      ),
    );
  const [own, foreign] = [part(false), part(true)];
  const joined = junction === undefined ? {} : { junction };
  const isOr = typeof junction === "string" && junction.toLowerCase() === "or";
  const marks = isOr && Object.keys(own).length > 0 && Object.keys(foreign).length > 0;
  const compiled = compilePredicate(
    { ...joined, ...foreign },
    recordFields(object, [...known.keys()]),
  );
  if (compiled.kind === "violation") throw invalidPayload(compiled.text);
  return {
    own: { ...joined, ...own },
    marks,
    foreign: Object.keys(foreign),
    matches: (values, isMarked, time) => (marks && isMarked) || compiled.matches(values, time),
  };
}

const recordFields = (
  object: ExportPlan["object"],
  names: readonly string[],
): RecordFields<ForeignValues> => ({
  named: Object.fromEntries(
    names.map((name) => {
      const type = specOf(object).fields[name] ?? "text";
      return [name, { type, read: (values) => valueOf(type, values.get(name) ?? null) }];
    }),
  ),
});

/** As filters compare it. */
function valueOf(type: string, text: string | null): unknown {
  if (text === null) return null;
  // Amounts in major units and percentages have decimals.
  if (type === "number") return text.includes(".") ? Number(text) : BigInt(text);
  return type === "array" ? (JSON.parse(text) as unknown) : text;
}
