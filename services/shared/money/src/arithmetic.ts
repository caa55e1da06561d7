import type { Decimal } from "./decimal.ts";
import { roundHalfUp } from "./round.ts";

/**
 * Arithmetic on decimals, exact where possible and always bounded. A result has at most 40
 * significant digits and 60 after the point; more are rounded half up, away from zero. A result of
 * 10 ** 40 or more is undefined. Amounts have at most 16 digits, so sums and most products are
 * exact, and in practice only quotients and powers are rounded.
 */
const SIGNIFICANT_DIGITS = 40;
const MAX_SCALE = 60;
const LARGEST = 10n ** BigInt(SIGNIFICANT_DIGITS);

/** At most twenty products: enough for formulas, and bounded. */
const LARGEST_EXPONENT = 1000n;

const ONE: Decimal = { unscaled: 1n, scale: 0 };

export function addDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  const scale = Math.max(a.scale, b.scale);
  return normalize(atScale(a, scale) + atScale(b, scale), scale);
}

export const negateDecimal = (value: Decimal): Decimal => ({
  unscaled: -value.unscaled,
  scale: value.scale,
});

export const multiplyDecimals = (a: Decimal, b: Decimal): Decimal | undefined =>
  normalize(a.unscaled * b.unscaled, a.scale + b.scale);

/** Returns undefined for a division by zero. */
export function divideDecimals(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.unscaled === 0n) return undefined;
  const extra = Math.max(0, SIGNIFICANT_DIGITS + 1 + digitsOf(b.unscaled) - digitsOf(a.unscaled));
  const dividend = a.unscaled * 10n ** BigInt(extra);
  // One more digit shows whether digits were cut off, for the single rounding.
  const isNegative = dividend < 0n !== b.unscaled < 0n;
  const cutOff = dividend % b.unscaled === 0n ? 0n : isNegative ? -1n : 1n;
  const quotient = (dividend / b.unscaled) * 10n + cutOff;
  const scale = a.scale - b.scale + extra + 1;
  return scale < 0 ? normalize(quotient * 10n ** BigInt(-scale), 0) : normalize(quotient, scale);
}

/** The remainder of `a` divided by `b`, with the sign of `a`. */
export function remainderOf(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.unscaled === 0n) return undefined;
  const scale = Math.max(a.scale, b.scale);
  return normalize(atScale(a, scale) % atScale(b, scale), scale);
}

/** Whole exponents only: other powers have no exact value. Each step is rounded like a product. */
export function powerOf(base: Decimal, exponent: Decimal): Decimal | undefined {
  const times = wholeOf(exponent);
  if (times === undefined || times > LARGEST_EXPONENT || times < -LARGEST_EXPONENT) {
    return undefined;
  }
  let power: Decimal | undefined = ONE;
  let square: Decimal | undefined = base;
  for (let left = times < 0n ? -times : times; left > 0n; left /= 2n) {
    if (square === undefined) return undefined;
    if (left % 2n === 1n) power = multiplyDecimals(power, square);
    if (power === undefined) return undefined;
    if (left > 1n) square = multiplyDecimals(square, square);
  }
  return times < 0n ? divideDecimals(ONE, power) : power;
}

/** Negative, zero or positive, as `a` is below, equal to or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = atScale(a, scale) - atScale(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

export type RoundingMode = "HALF_UP" | "DOWN" | "UP";

/**
 * Rounds to `places` digits after the point, or to tens and hundreds when negative. DOWN rounds
 * towards minus infinity, UP towards plus infinity.
 */
export function roundDecimal(
  value: Decimal,
  places: number,
  mode: RoundingMode,
): Decimal | undefined {
  if (places >= value.scale) return value;
  const step = 10n ** BigInt(value.scale - places);
  const steps =
    mode === "HALF_UP" ? roundHalfUp(value.unscaled, step) : floorOrCeil(value, step, mode);
  return places < 0 ? normalize(steps * 10n ** BigInt(-places), 0) : normalize(steps, places);
}

function floorOrCeil({ unscaled }: Decimal, step: bigint, mode: "DOWN" | "UP"): bigint {
  const towardsZero = unscaled / step;
  const rest = unscaled % step;
  if (mode === "DOWN") return rest < 0n ? towardsZero - 1n : towardsZero;
  return rest > 0n ? towardsZero + 1n : towardsZero;
}

/** The decimal as an integer, or undefined when it has a fraction. */
export function wholeOf({ unscaled, scale }: Decimal): bigint | undefined {
  const unit = 10n ** BigInt(scale);
  return unscaled % unit === 0n ? unscaled / unit : undefined;
}

/** Minor units as major units: 1999 is 19.99. */
export const fromMinorUnits = (amount: bigint): Decimal => ({ unscaled: amount, scale: 2 });

/** Major units as minor units, rounded half up once. */
export const toMinorUnits = ({ unscaled, scale }: Decimal): bigint =>
  roundHalfUp(unscaled * 100n, 10n ** BigInt(scale));

/** A JSON number as the decimal that it is written as; undefined when out of range. */
export function decimalOfNumber(value: number): Decimal | undefined {
  const match = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (match === null) return undefined;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const scale = fraction.length - Number(exponent);
  const unscaled = BigInt(whole + fraction);
  if (scale >= 0) return normalize(unscaled, scale);
  return -scale > SIGNIFICANT_DIGITS ? undefined : normalize(unscaled * 10n ** BigInt(-scale), 0);
}

/** Plain decimal text without trailing zeros in its fraction. */
export function decimalText({ unscaled, scale }: Decimal): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${unscaled < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

function normalize(unscaled: bigint, scale: number): Decimal | undefined {
  const spare = Math.min(
    scale,
    Math.max(digitsOf(unscaled) - SIGNIFICANT_DIGITS, scale - MAX_SCALE),
  );
  const normalized =
    spare > 0
      ? { unscaled: roundHalfUp(unscaled, 10n ** BigInt(spare)), scale: scale - spare }
      : { unscaled, scale };
  const limit = LARGEST * 10n ** BigInt(normalized.scale);
  return normalized.unscaled < limit && normalized.unscaled > -limit ? normalized : undefined;
}

const atScale = ({ unscaled, scale }: Decimal, target: number): bigint =>
  unscaled * 10n ** BigInt(target - scale);

const digitsOf = (value: bigint): number => (value < 0n ? -value : value).toString().length;
