import { smallestOf } from "./minor-units.ts";
import { type LineState, type OrderState, subtotalAmount, totalAmount } from "./order-state.ts";

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
  const draft = toDraft(state);
  for (const discount of discounts) discountLine(draft, discount);
  return draft;
}

/**
 * An order that one redeemable is changing step by step. It is a copy, so that the state it was made of
 * stays what it was; once it is given away as a state it is not changed any more.
 */
export type OrderDraft = {
  amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  itemsDiscountAmount: bigint;
  readonly lines: LineState[];
  hasAmount: boolean;
};

export const toDraft = (state: OrderState): OrderDraft => ({ ...state, lines: [...state.lines] });

/** Adds units to a line, or takes them away when negative; the order is worth more or less by them. */
export function addQuantity(draft: OrderDraft, index: number, units: bigint): void {
  const line = lineAt(draft, index);
  const amount = units * (line.price ?? 0n);
  draft.lines[index] = { ...line, quantity: line.quantity + units, amount: line.amount + amount };
  draft.amount += amount;
  if (line.price !== null) draft.hasAmount = true;
}

/** Puts a line of no units at the end. */
export function appendLine(
  draft: OrderDraft,
  line: Pick<LineState, "snapshot" | "addedItem" | "price">,
): void {
  draft.lines.push({
    ...line,
    quantity: 0n,
    initialQuantity: 0n,
    amount: 0n,
    initialAmount: 0n,
    discountAmount: 0n,
    discountQuantity: 0n,
    exchanges: [],
  });
}

/** Makes units of a line free, as far as anything is left to pay for them. */
export function makeUnitsFree(draft: OrderDraft, index: number, units: bigint): void {
  const line = lineAt(draft, index);
  const price = line.price ?? 0n;
  const amount = smallestOf(units * price, subtotalAmount(line), totalAmount(draft));
  discountLine(draft, { index, amount, units });
}

export function discountLine(draft: OrderDraft, { index, amount, units }: LineDiscount): void {
  const line = lineAt(draft, index);
  draft.lines[index] = {
    ...line,
    discountAmount: line.discountAmount + amount,
    discountQuantity: line.discountQuantity + units,
  };
  draft.itemsDiscountAmount += amount;
}

export function lineAt({ lines }: OrderState | OrderDraft, index: number): LineState {
  const line = lines[index];
  if (line === undefined) throw new RangeError(`the order has no line ${index}`);
  return line;
}
