/** Points that an automatic redemption holds: `price` for each of `quantity` rewards. */
export type HeldRewards = { readonly price: bigint; readonly quantity: bigint };

/**
 * The points of a balance that automatic redemptions hold, oldest hold first: as many whole rewards of each as the balance
 * pays for. A hold pays with points of several entries when they were credited together; of the balance after an earlier
 * one of them, it takes what it would have taken if that entry had come alone.
 */
export function heldOfBalance(balance: bigint, holds: readonly HeldRewards[]): bigint {
  let held = 0n;
  for (const { price, quantity } of holds) {
    const affordable = (balance - held) / price;
    held += price * (affordable < quantity ? affordable : quantity);
  }
  return held;
}
