import type { LineSnapshot } from "../input/order.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type OrderFigures, orderFigures } from "./order-figures.ts";
import { checkOrder, lineAmount, initialOrderState, unitPrice } from "./order-state.ts";

/** What is known of an order that is stored as it is, without anything being redeemed on it. */
export type StoredOrderInput = {
  /** What the shop says the order is worth, for when its lines do not tell. */
  readonly amount: bigint | null;
  readonly initialAmount: bigint | null;
  readonly discountAmount: bigint;
  readonly lines: readonly LineSnapshot[];
};

export type StoredOrderOutcome =
  | { readonly kind: "figures"; readonly figures: OrderFigures }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/**
 * The figures of a stored order (spec/campaigns-loyalty-platform.md §14): unlike in a decision, the
 * lines decide over what is said beside them. Discounts are cut to what they are taken from, so that
 * no total is negative.
 */
export function storedOrderFigures(record: StoredOrderInput): StoredOrderOutcome {
  const lines = record.lines.map(pricedLine);
  const told = lines.some((line) => lineAmount(line) !== null);
  const { initialAmount, discountAmount } = record;
  const order = { amount: told ? null : record.amount, initialAmount, discountAmount, lines };
  const rejection = checkOrder(order);
  if (rejection !== null) return { kind: "rejected", rejection };
  const state = initialOrderState(order);
  return { kind: "figures", figures: orderFigures(state, state) };
}

/** Price and quantity decide over an amount that is sent beside them. */
function pricedLine(line: LineSnapshot): LineSnapshot {
  return unitPrice(line.prices) !== null && (line.quantity !== null || line.amount === null)
    ? { ...line, amount: null }
    : line;
}
