import { least } from "./minor-units.ts";
import { type LineState, type OrderState, subtotalAmount, totalAmount } from "./order.ts";

/** What a redeemable does to an order. Each change answers a new state. */

/** Takes `amount` off the order as a whole; the lines do not notice. */
export const discountOrder = (state: OrderState, amount: bigint): OrderState => ({
  ...state,
  discountAmount: state.discountAmount + amount,
});

export type LineDiscount = {
  readonly index: number;
  readonly amount: bigint;
  /** Units, where that says more than the line as a whole; otherwise zero. */
  readonly units: bigint;
};

/** Takes amounts off lines; the order-level discount does not change. */
export function discountLines(state: OrderState, discounts: readonly LineDiscount[]): OrderState {
  const lines = [...state.lines];
  let total = 0n;
  for (const { index, amount, units } of discounts) {
    const line = lineAt(state, index);
    lines[index] = {
      ...line,
      discountAmount: line.discountAmount + amount,
      discountQuantity: line.discountQuantity + units,
    };
    total += amount;
  }
  return { ...state, lines, itemsDiscountAmount: state.itemsDiscountAmount + total };
}

/** Adds units to a line, or takes them away when negative; the order is worth more or less by them. */
export function changeUnits(state: OrderState, index: number, units: bigint): OrderState {
  const line = lineAt(state, index);
  const amount = units * (line.price ?? 0n);
  const changed = { ...line, quantity: line.quantity + units, amount: line.amount + amount };
  return {
    ...state,
    amount: state.amount + amount,
    lines: state.lines.with(index, changed),
    hasAmount: state.hasAmount || line.price !== null,
  };
}

/** The state with a line of no units at its end. */
export const appendLine = (
  state: OrderState,
  line: Pick<LineState, "facts" | "added" | "price">,
): OrderState => ({
  ...state,
  lines: [
    ...state.lines,
    {
      ...line,
      quantity: 0n,
      initialQuantity: 0n,
      amount: 0n,
      initialAmount: 0n,
      discountAmount: 0n,
      discountQuantity: 0n,
      applications: [],
    },
  ],
});

/** Makes units of a line free, as far as anything is left to pay for them. */
export function freeUnits(state: OrderState, index: number, units: bigint): OrderState {
  const line = lineAt(state, index);
  const amount = least(units * (line.price ?? 0n), subtotalAmount(line), totalAmount(state));
  return discountLines(state, [{ index, amount, units }]);
}

export function lineAt(state: OrderState, index: number): LineState {
  const line = state.lines[index];
  if (line === undefined) throw new RangeError(`the order has no line ${index}`);
  return line;
}
