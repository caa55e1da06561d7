import { isJsonObject } from "../http.ts";

/** Maps whose values are the project's own: `false`, `[]` and `{}` have a meaning there, such as the operand of `$has_value`. */
export const isVerbatim = (field: string): boolean =>
  field === "metadata" || field === "conditions";

/** The value without nulls, which mean the same as absent keys. */
export function withoutNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, withoutNulls(each)]),
  );
}
