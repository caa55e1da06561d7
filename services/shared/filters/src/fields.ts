import type { Operator } from "./operators.ts";

/** Binds a value of the statement; returns its placeholder. */
export type Bind = (value: unknown) => string;

/** From one text up to another, without the latter. */
export type TextRange = { readonly from: string; readonly to: string };

/**
 * A field that filters may name, and the SQL expression that reads it. Other fields are rejected.
 */
export type FilterField = {
  /**
   * `date`: an instant. `day`: a date without a time. `array`: a Postgres array. `json`: one jsonb
   * value of any type.
   */
  readonly type: "text" | "number" | "boolean" | "date" | "day" | "array" | "json";
  /** Defined by the service, never by a client. */
  readonly sql: string;
  /** Compared for equality instead of the text: `of` returns the keys that an operand matches. */
  readonly key?: {
    readonly sql: string;
    readonly of: (operand: string) => readonly string[];
    /** SQL condition that `sql` is one of these keys, if an index needs another form than `= any`. */
    readonly isAny?: (keys: string) => string;
  };
  /**
   * An indexed column for `$starts_with`: `of` returns ranges that contain all texts which begin with an operand, and
   * possibly others; undefined: the index cannot be used.
   */
  readonly beginnings?: {
    readonly sql: string;
    readonly of: (operand: string) => readonly TextRange[] | undefined;
  };
  /**
   * If `sql` is a column of another table: the SQL condition, for a row of the list, that a row of that table satisfies
   * a condition.
   */
  readonly within?: (condition: string) => string;
  /**
   * For an array: the SQL condition that it contains one of the values, which are an array too. Default: the arrays
   * overlap.
   */
  readonly hasAny?: (values: string) => string;
  /** Replaces other names of a value with the stored one. */
  readonly normalize?: (operand: string) => string;
  /** SQL conditions of state operators such as `$active`; `now` binds the present. */
  readonly states?: Readonly<Partial<Record<Operator, (now: () => string) => string>>>;
};

export type FilterFields = {
  readonly named: Readonly<Record<string, FilterField>>;
  /** Fields whose names end with a key of the client, such as `metadata.`; undefined: there is no such field. */
  readonly prefixed?: Readonly<
    Record<string, (key: string, bind: Bind) => FilterField | undefined>
  >;
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
