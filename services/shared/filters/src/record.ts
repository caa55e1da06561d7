import type { FilterField } from "./fields.ts";

export type ValueType = FilterField["type"];

/**
 * The value of a field in memory: `null` for none, a date as epoch milliseconds, a day as
 * YYYY-MM-DD, a number as bigint, an array as texts, a JSON value unchanged.
 */
export type RecordValue = unknown;

/** A record field that filters may name, of the type of its SQL counterpart. */
export type RecordField<Subject> = {
  readonly type: ValueType;
  readonly read: (subject: Subject) => RecordValue;
  /** Converts an operand before it is compared with the result of `read`. Default: unchanged. */
  readonly keyOf?: (text: string) => string;
};

export type RecordFields<Subject> = {
  readonly named: Readonly<Record<string, RecordField<Subject>>>;
  /** Fields whose names end with a key of the client, such as `metadata.`; undefined: there is no such field. */
  readonly prefixed?: Readonly<Record<string, (key: string) => RecordField<Subject> | undefined>>;
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

/** An own member of a JSON object; never an inherited one. */
export const memberOf = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
