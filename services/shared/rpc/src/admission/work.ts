/** Milliseconds to evaluate one redeemable on one order line, and to write the result. */
const REDEEMABLE_LINE_MS = 0.004;

/**
 * The estimated work of a decision, in about milliseconds of processor time. Its response shows the order after
 * each redeemable, so both the time and the memory grow with the product.
 */
export const decisionWork = (size: {
  readonly redeemables: number;
  readonly lines: number;
}): number => size.redeemables * size.lines * REDEEMABLE_LINE_MS;
