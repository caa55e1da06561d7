/** Milliseconds to evaluate one redeemable on one order line, and to write the result. */
const REDEEMABLE_LINE_MS = 0.004;
/** The same where the response does not show the order after each redeemable. */
const WITHOUT_ORDERS_MS = 0.0005;

export type DecisionSize = {
  readonly redeemables: number;
  readonly lines: number;
  /** `options.expand` of requests that may leave out the order of each redeemable. */
  readonly expand?: readonly string[] | undefined;
};

/**
 * The estimated work of a decision, in about milliseconds of processor time. Its response shows the order after
 * each redeemable, so both the time and the memory grow with the product.
 */
export const decisionWork = ({ redeemables, lines, expand }: DecisionSize): number =>
  redeemables * lines * (showsOrders(expand) ? REDEEMABLE_LINE_MS : WITHOUT_ORDERS_MS);

/** Whether a validation shows the order of each redeemable: expanding something else omits it unless it is expanded too. */
export const showsOrders = (expand: readonly string[] = []): boolean =>
  expand.includes("order") || !expand.includes("redeemable");
