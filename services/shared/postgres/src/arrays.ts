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

export function textArray(values: readonly (string | null)[]): ArrayValue {
  let target = scratch;
  let offset = writeHeader(target, TYPES.text, values.length);
  for (const value of values) {
    const most = offset + LENGTH_BYTES + (value === null ? 0 : value.length * MAX_UTF8_BYTES);
    if (most > target.length) target = growScratch(most, offset);
    const size = value === null ? NULL_LENGTH : writeText(target, value, offset + LENGTH_BYTES);
    offset = writeInt32(target, size, offset);
    if (size > 0) offset += size;
  }
  const array = Buffer.allocUnsafe(offset);
  target.copy(array, 0, 0, offset);
  if (target.length > MAX_SCRATCH) scratch = Buffer.allocUnsafeSlow(MIN_SCRATCH);
  return array;
}

const MIN_SCRATCH = 64 * 1_024;
const MAX_SCRATCH = 1_024 * 1_024;

/** Texts are written here first: an upper bound of their bytes is known at once, their number is not. */
let scratch: Buffer = Buffer.allocUnsafeSlow(MIN_SCRATCH);

function growScratch(bytes: number, written: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * bytes);
  scratch.copy(larger, 0, 0, written);
  scratch = larger;
  return larger;
}

/** Bytes of a UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/** Copying these by character is faster than a call of `utf8Write`. */
const SHORT_TEXT = 64;

const MAX_ASCII = 0x7f;

/** Returns the number of bytes. */
function writeText(target: Buffer, value: string, offset: number): number {
  const { length } = value;
  if (length > SHORT_TEXT) return target.write(value, offset);
  for (let at = 0; at < length; at += 1) {
    const unit = value.charCodeAt(at);
    if (unit > MAX_ASCII) return target.write(value, offset);
    target[offset + at] = unit;
  }
  return length;
}

export function byteaArray(values: readonly (Uint8Array | null)[]): ArrayValue {
  let total = HEADER_BYTES + LENGTH_BYTES * values.length;
  for (const value of values) total += value?.length ?? 0;
  const target = Buffer.allocUnsafe(total);
  let offset = writeHeader(target, TYPES.bytea, values.length);
  for (const value of values) {
    offset = writeInt32(target, value?.length ?? NULL_LENGTH, offset);
    if (value === null) continue;
    target.set(value, offset);
    offset += value.length;
  }
  return target;
}

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

function fixedArray<Value>(
  type: number,
  values: readonly (Value | null)[],
  {
    size,
    write,
  }: {
    readonly size: number;
    readonly write: (value: Value, target: Buffer, offset: number) => number;
  },
): ArrayValue {
  const target = Buffer.allocUnsafe(HEADER_BYTES + (LENGTH_BYTES + size) * values.length);
  let offset = writeHeader(target, type, values.length);
  for (const value of values) {
    offset = writeInt32(target, value === null ? NULL_LENGTH : size, offset);
    if (value !== null) offset = write(value, target, offset);
  }
  return target.subarray(0, offset);
}

/** One dimension that starts at 1. The null flag is always set, which costs nothing. */
function writeHeader(target: Buffer, type: number, length: number): number {
  let offset = writeInt32(target, 1, 0);
  offset = writeInt32(target, 1, offset);
  offset = writeInt32(target, type, offset);
  offset = writeInt32(target, length, offset);
  return writeInt32(target, 1, offset);
}

/** As `writeInt32BE`, without its checks. */
function writeInt32(target: Buffer, value: number, offset: number): number {
  target[offset] = value >>> 24;
  target[offset + 1] = value >>> 16;
  target[offset + 2] = value >>> 8;
  target[offset + 3] = value;
  return offset + LENGTH_BYTES;
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
