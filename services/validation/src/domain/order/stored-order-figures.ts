import type { LineSnapshot } from "../input/order.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type OrderFigures, orderFigures } from "./order-figures.ts";
import { checkOrder, lineAmount, initialOrderState, unitPrice } from "./order-state.ts";

/** An order that is stored without a redemption. */
export type StoredOrderInput = {
  /** The amount of the request, used if no line has an amount. */
  readonly amount: bigint | null;
  readonly initialAmount: bigint | null;
  readonly discountAmount: bigint;
  readonly lines: readonly LineSnapshot[];
};

export type StoredOrderOutcome =
  | { readonly kind: "figures"; readonly figures: OrderFigures }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/**
 * The figures of a stored order. Unlike in a decision, the amounts of the lines override the amount
 * of the order. Discounts are limited to their base, so that no total is negative.
 * docs/orders-and-catalogue.md#orders
 */
export function storedOrderFigures(input: StoredOrderInput): StoredOrderOutcome {
  const lines = input.lines.map(pricedLine);
  const hasLineAmounts = lines.some((line) => lineAmount(line) !== null);
  const { initialAmount, discountAmount } = input;
  const order = {
    amount: hasLineAmounts ? null : input.amount,
    initialAmount,
    discountAmount,
    lines,
  };
  const rejection = checkOrder(order);
  if (rejection !== null) return { kind: "rejected", rejection };
  const state = initialOrderState(order);
  return { kind: "figures", figures: orderFigures(state, state) };
}

/** Price and quantity override an amount of the line. */
function pricedLine(line: LineSnapshot): LineSnapshot {
  return unitPrice(line.prices) !== null && (line.quantity !== null || line.amount === null)
    ? { ...line, amount: null }
    : line;
}
