/**
 * Postgres array literals for `unnest`. node-postgres can write them too, but element by element
 * through several functions; a batch of redemptions has some twenty thousand elements.
 */

export function textArray(values: readonly (string | null)[]): string {
  let literal = "{";
  for (const [index, value] of values.entries()) {
    if (index > 0) literal += ",";
    literal += value === null ? "NULL" : quote(value);
  }
  return `${literal}}`;
}

const quote = (value: string): string =>
  /["\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${value}"`;

/** For numbers and booleans, whose text needs no quotes. */
export const plainArray = (values: readonly (bigint | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`;

export const byteaArray = (values: readonly (Uint8Array | null)[]): string =>
  `{${values.map((value) => (value === null ? "NULL" : hexOf(value))).join(",")}}`;

const hexOf = (bytes: Uint8Array): string =>
  String.raw`"\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}"`;
