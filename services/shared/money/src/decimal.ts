/** An exact decimal: `unscaled / 10 ** scale`. "12.5" and "12.50" are equal in value, not in form. */
export type Decimal = { readonly unscaled: bigint; readonly scale: number };

/**
 * No rate in a contract needs more digits, and the bound keeps the arithmetic on hostile input cheap:
 * at most 20 digits before the point and 12 after it.
 */
const DECIMAL = /^(-?\d{1,20})(?:\.(\d{1,12}))?$/;

/**
 * Reads plain decimal text such as "12.5" or "-3". Answers undefined for anything else: exponents,
 * a bare point, signs of plus, blanks, more digits than a decimal may have.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { unscaled: BigInt(whole + fraction), scale: fraction.length };
}
