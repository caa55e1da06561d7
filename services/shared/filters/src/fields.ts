import type { Operator } from "./operators.ts";

/** A value that travels beside the statement, never inside its text; answers its placeholder. */
export type Bind = (value: unknown) => string;

/** A field that may be filtered by, and the SQL that reads it. Only what is listed can be named. */
export type FilterField = {
  /**
   * `date`: an instant. `day`: a date without a time. `array`: a Postgres array. `json`: one value of
   * jsonb, of any type.
   */
  readonly type: "text" | "number" | "boolean" | "date" | "day" | "array" | "json";
  /** Written by us, never by a client. */
  readonly sql: string;
  /** What tests of state mean for it, such as `$active`; `now` binds the present. */
  readonly states?: Readonly<Partial<Record<Operator, (now: () => string) => string>>>;
};

export type FilterFields = {
  readonly named: Readonly<Record<string, FilterField>>;
  /** Fields whose names go on with a key of the client's, such as `metadata.`. */
  readonly prefixed?: Readonly<Record<string, (key: string, bind: Bind) => FilterField>>;
};

/** A member of a jsonb object; the key is bound like any value. */
export const jsonMember =
  (column: string) =>
  (key: string, bind: Bind): FilterField => ({
    type: "json",
    sql: `(${column} -> ${bind(key)}::text)`,
  });

export function findField(fields: FilterFields, name: string, bind: Bind): FilterField | undefined {
  if (Object.hasOwn(fields.named, name)) return fields.named[name];
  for (const [prefix, make] of Object.entries(fields.prefixed ?? {})) {
    if (name.startsWith(prefix) && name.length > prefix.length) {
      return make(name.slice(prefix.length), bind);
    }
  }
  return undefined;
}
