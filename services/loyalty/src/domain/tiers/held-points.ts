/** Points that an automatic redemption holds: `price` for each of `quantity` rewards. */
export type HeldRewards = { readonly price: bigint; readonly quantity: bigint };

/**
 * The part of a balance that automatic redemptions hold, oldest hold first: the price of as many whole rewards of each
 * hold as the balance pays for. Several ledger entries may be credited together before a hold; for the balance after an
 * earlier one of these entries, the result is what the hold would have taken if that entry had been the last.
 */
export function heldOfBalance(balance: bigint, holds: readonly HeldRewards[]): bigint {
  let held = 0n;
  for (const { price, quantity } of holds) {
    const affordable = (balance - held) / price;
    held += price * (affordable < quantity ? affordable : quantity);
  }
  return held;
}
