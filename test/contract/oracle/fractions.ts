/** A non-negative fraction. */
export type Fraction = { readonly n: bigint; readonly d: bigint };

/** Parses plain decimal text. */
export function fraction(text: string): Fraction {
  const [whole = "0", decimals = ""] = text.split(".");
  return { n: BigInt(whole + decimals), d: 10n ** BigInt(decimals.length) };
}

/** Rounds half up (docs/order-calculation.md#rounding). */
export const halfUp = ({ n, d }: Fraction): bigint => (2n * n + d) / (2n * d);

export const floor = ({ n, d }: Fraction): bigint => n / d;

export const times = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d });

export const plus = (a: Fraction, b: Fraction): Fraction => ({
  n: a.n * b.d + b.n * a.d,
  d: a.d * b.d,
});

export const divided = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d, d: a.d * b.n });

export const isLess = (a: Fraction, b: Fraction): boolean => a.n * b.d < b.n * a.d;

export const atMost = (a: Fraction, b: Fraction): Fraction => (isLess(b, a) ? b : a);
