/**
 * Splits `total` over `weights` so that the parts add up to exactly `total` and each part is within
 * one unit of its exact share. The remaining units go to the largest remainders, the first of
 * equals first. Weights that are all zero, and no weights, only split a total of zero.
 */
export function allocate(total: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.some((weight) => weight < 0n)) {
    throw new RangeError("allocate: a weight must not be negative");
  }
  // The mirror image, so that no part has the other sign.
  if (total < 0n) return allocate(-total, weights).map((part) => -part);
  const sum = weights.reduce((a, b) => a + b, 0n);
  if (sum === 0n) {
    if (total === 0n) return weights.map(() => 0n);
    throw new RangeError("allocate: the weights must add up to more than zero");
  }

  const parts = weights.map((weight) => (total * weight) / sum);
  const missing = Number(total - parts.reduce((a, b) => a + b, 0n));
  const neediest = weights
    .map((weight, index) => ({ index, remainder: (total * weight) % sum }))
    .toSorted((a, b) => (a.remainder === b.remainder ? 0 : a.remainder > b.remainder ? -1 : 1))
    .slice(0, missing);
  for (const { index } of neediest) parts[index] = (parts[index] ?? 0n) + 1n;
  return parts;
}
