/**
 * The whole number nearest to `numerator / denominator`; exactly half goes away from zero, so 2.5
 * becomes 3 and -2.5 becomes -3. Round once per computed amount, and never what was rounded before.
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
