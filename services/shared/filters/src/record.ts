import type { FilterField } from "./fields.ts";

export type ValueType = FilterField["type"];

/**
 * A field's value in memory: `null` for nothing, a date as epoch milliseconds, a day as YYYY-MM-DD, a
 * number as bigint, an array as texts, a value of JSON as it is.
 */
export type RecordValue = unknown;

/** The field of a record that filters may name; of the same type as its twin in SQL. */
export type RecordField<Subject> = {
  readonly type: ValueType;
  readonly read: (subject: Subject) => RecordValue;
};

export type RecordFields<Subject> = {
  readonly named: Readonly<Record<string, RecordField<Subject>>>;
  /** Fields whose names go on with a key of the client's, such as `metadata.`. */
  readonly prefixed?: Readonly<Record<string, (key: string) => RecordField<Subject>>>;
};

export function findRecordField<Subject>(
  fields: RecordFields<Subject>,
  name: string,
): RecordField<Subject> | undefined {
  if (Object.hasOwn(fields.named, name)) return fields.named[name];
  for (const [prefix, make] of Object.entries(fields.prefixed ?? {})) {
    if (name.startsWith(prefix) && name.length > prefix.length) {
      return make(name.slice(prefix.length));
    }
  }
  return undefined;
}

/** A member of an object of JSON; never one that all objects have. */
export const memberOf = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
