/** An exact decimal: `unscaled / 10 ** scale`. "12.5" and "12.50" are equal in value, not in form. */
export type Decimal = { readonly unscaled: bigint; readonly scale: number };

/**
 * Every decimal that passes the door may be read, such as the 33.333333333333336 that JavaScript
 * makes of 100 / 3; the bound keeps the arithmetic on hostile input cheap.
 */
const LONGEST_DECIMAL = 40;

const DECIMAL = /^(-?\d{1,20})(?:\.(\d+))?$/;

/**
 * Reads plain decimal text such as "12.5" or "-3". Answers undefined for anything else: exponents,
 * a bare point, signs of plus, blanks, more digits than a decimal may have: 20 before the point, and
 * 40 characters in all.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length <= LONGEST_DECIMAL ? DECIMAL.exec(text) : null;
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { unscaled: BigInt(whole + fraction), scale: fraction.length };
}
