/** A JSON value as Postgres formats it: the result of `#>> '{}'` on jsonb, `null` for none. */
export function jsonText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : jsonbText(value);
}

function jsonbText(value: unknown): string {
  if (typeof value === "number") return plainNumber(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(", ")}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => compareKeys(a, b));
  return `{${members.map(([key, one]) => `${JSON.stringify(key)}: ${jsonbText(one)}`).join(", ")}}`;
}

/** jsonb sorts shorter keys first, and keys of one length by their bytes. */
function compareKeys(a: string, b: string): number {
  const [bytesA, bytesB] = [Buffer.from(a), Buffer.from(b)];
  return bytesA.length - bytesB.length || Buffer.compare(bytesA, bytesB);
}

/** Without an exponent. */
export function plainNumber(value: number): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(JSON.stringify(value));
  if (match === null) return JSON.stringify(value);
  const [, sign, whole = "", fraction = "", exponent] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits.padEnd(point, "0")}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * Text for comparison without case, folded letter by letter: folding a whole text would treat a
 * sigma at the end of a word differently.
 */
export const caseless = (text: string): string =>
  Array.from(text, (letter) => Array.from(letter.toLowerCase())[0]).join("");

/**
 * Compares plain decimals of any length: negative, zero or positive, as `a` is below, equal to or
 * above `b`.
 */
export function compareNumbers(a: string, b: string): number {
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const difference = unscaled(a, scale) - unscaled(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

const scaleOf = (text: string): number => text.split(".")[1]?.length ?? 0;

const unscaled = (text: string, scale: number): bigint =>
  BigInt(text.replace(".", "") + "0".repeat(scale - scaleOf(text)));
