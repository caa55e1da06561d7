/**
 * Arrays for `unnest` in the binary format of Postgres, which node-postgres sends unchanged.
 * Neither side formats or parses text: a batch of redemptions has some twenty thousand elements,
 * and bytes as text are twice as long. The statement must cast the parameter to the type of the
 * array.
 */

export type ArrayValue = Buffer;

/** The type ids of Postgres' built-in types. */
const TYPES = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, timestamptz: 1184 };

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

export const textArray = (values: readonly (string | null)[]): ArrayValue =>
  variableArray(TYPES.text, values, {
    sizeOf: (value) => Buffer.byteLength(value),
    write: (value, target, offset) => target.write(value, offset),
  });

export const byteaArray = (values: readonly (Uint8Array | null)[]): ArrayValue =>
  variableArray(TYPES.bytea, values, {
    sizeOf: (value) => value.length,
    write: (value, target, offset) => target.set(value, offset),
  });

export const boolArray = (values: readonly boolean[]): ArrayValue =>
  fixedArray(TYPES.bool, values, {
    size: 1,
    write: (value, target, offset) => target.writeUInt8(value ? 1 : 0, offset),
  });

export const int4Array = (values: readonly (number | null)[]): ArrayValue =>
  fixedArray(TYPES.int4, values, {
    size: 4,
    write: (value, target, offset) => target.writeInt32BE(value, offset),
  });

export const int8Array = (values: readonly (bigint | null)[]): ArrayValue =>
  fixedArray(TYPES.int8, values, {
    size: 8,
    write: (value, target, offset) => target.writeBigInt64BE(value, offset),
  });

/** From epoch milliseconds; Postgres counts microseconds from the year 2000. */
export const timestampArray = (values: readonly (number | null)[]): ArrayValue =>
  fixedArray(TYPES.timestamptz, values, {
    size: 8,
    write: (value, target, offset) =>
      target.writeBigInt64BE(BigInt(value - YEAR_2000_MS) * 1000n, offset),
  });

const YEAR_2000_MS = Date.UTC(2000, 0, 1);

type Write<Value> = (value: Value, target: Buffer, offset: number) => void;

function fixedArray<Value>(
  type: number,
  values: readonly (Value | null)[],
  { size, write }: { readonly size: number; readonly write: Write<Value> },
): ArrayValue {
  return variableArray(type, values, { sizeOf: () => size, write });
}

function variableArray<Value>(
  type: number,
  values: readonly (Value | null)[],
  format: { readonly sizeOf: (value: Value) => number; readonly write: Write<Value> },
): ArrayValue {
  let total = HEADER_BYTES;
  for (const value of values) {
    total += LENGTH_BYTES + (value === null ? 0 : format.sizeOf(value));
  }
  const target = Buffer.allocUnsafe(total);
  let offset = writeHeader(target, type, values.length);
  for (const value of values) {
    if (value === null) {
      offset = target.writeInt32BE(NULL_LENGTH, offset);
    } else {
      const size = format.sizeOf(value);
      offset = target.writeInt32BE(size, offset);
      format.write(value, target, offset);
      offset += size;
    }
  }
  return target;
}

/** One dimension that starts at 1. The null flag is always set, which costs nothing. */
function writeHeader(target: Buffer, type: number, length: number): number {
  let offset = target.writeInt32BE(1, 0);
  offset = target.writeInt32BE(1, offset);
  offset = target.writeInt32BE(type, offset);
  offset = target.writeInt32BE(length, offset);
  return target.writeInt32BE(1, offset);
}

/**
 * Columns that are often empty: all nulls are sent as an empty array, since `unnest` pads arrays
 * that are shorter than the longest one.
 */
export const sparseText = (values: readonly (string | null)[]): ArrayValue | null =>
  isEmpty(values) ? null : textArray(values);

export const sparseBytea = (values: readonly (Uint8Array | null)[]): ArrayValue | null =>
  isEmpty(values) ? null : byteaArray(values);

export const sparseInt4 = (values: readonly (number | null)[]): ArrayValue | null =>
  isEmpty(values) ? null : int4Array(values);

export const sparseInt8 = (values: readonly (bigint | null)[]): ArrayValue | null =>
  isEmpty(values) ? null : int8Array(values);

const isEmpty = (values: readonly unknown[]): boolean => values.every((value) => value === null);
