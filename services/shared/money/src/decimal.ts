/** An exact decimal: `unscaled / 10 ** scale`. "12.5" and "12.50" are equal in value, not in form. */
export type Decimal = { readonly unscaled: bigint; readonly scale: number };

/**
 * Every decimal that the contract accepts must be readable, such as 33.333333333333336 (100 / 3 in
 * JavaScript); the bound keeps arithmetic on hostile input cheap.
 */
const LONGEST_DECIMAL = 40;

const DECIMAL = /^(-?\d{1,20})(?:\.(\d+))?$/;

/**
 * Reads plain decimal text such as "12.5" or "-3". Returns undefined for anything else: exponents,
 * a bare point, plus signs, spaces, more than 20 digits before the point, or more than 40
 * characters.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length <= LONGEST_DECIMAL ? DECIMAL.exec(text) : null;
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { unscaled: BigInt(whole + fraction), scale: fraction.length };
}
