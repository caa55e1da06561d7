/**
 * The integer nearest to `numerator / denominator`; exactly half rounds away from zero: 2.5 to 3,
 * -2.5 to -3. Round once per computed amount, and never a rounded one again.
 */
export function roundHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (denominator === 0n) throw new RangeError("roundHalfUp: the denominator must not be zero");
  const isNegative = numerator < 0n !== denominator < 0n;
  const dividend = magnitude(numerator);
  const divisor = magnitude(denominator);
  const rounded = (2n * dividend + divisor) / (2n * divisor);
  return isNegative ? -rounded : rounded;
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
