/** The smallest of the amounts; null is a limit that is not set. */
export function smallestOf(amount: bigint, ...limits: readonly (bigint | null)[]): bigint {
  let smallest = amount;
  for (const limit of limits) {
    if (limit !== null && limit < smallest) smallest = limit;
  }
  return smallest;
}

export const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

export function sumOf<T>(items: readonly T[], amountOf: (item: T) => bigint): bigint {
  let total = 0n;
  for (const item of items) total += amountOf(item);
  return total;
}
