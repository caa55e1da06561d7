/** Rewards of one automatic redemption. */
const MAX_REWARDS = 25n;

/** Automatic redemptions of a customer on one day. */
export const MAX_REDEMPTIONS_PER_DAY = 10;

/** Number of rewards that the points buy in one redemption (docs/gift-and-points.md#automatic-redemption). */
export function rewardsToRedeem({
  available,
  price,
  stockLeft,
}: {
  readonly available: bigint;
  readonly price: bigint;
  /** Null: unlimited. */
  readonly stockLeft: bigint | null;
}): bigint {
  const affordable = available <= 0n ? 0n : available / price;
  const limit = stockLeft === null || stockLeft > MAX_REWARDS ? MAX_REWARDS : stockLeft;
  return affordable < limit ? affordable : limit;
}
