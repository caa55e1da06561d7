import { smallestOf } from "./minor-units.ts";
import { type LineState, type OrderState, subtotalAmount, totalAmount } from "./order-state.ts";

/** Adds an order-level discount; the lines are unchanged. */
export const discountOrder = (state: OrderState, amount: bigint): OrderState => ({
  ...state,
  discountAmount: state.discountAmount + amount,
});

export type LineDiscount = {
  readonly index: number;
  readonly amount: bigint;
  /** Discounted units if they are only a part of the line, otherwise zero. */
  readonly units: bigint;
};

/** Adds discounts of lines; the order-level discount is unchanged. */
export function discountLines(state: OrderState, discounts: readonly LineDiscount[]): OrderState {
  const draft = toDraft(state);
  for (const discount of discounts) discountLine(draft, discount);
  return draft;
}

/**
 * A mutable copy of an order state, changed by one redeemable. It is no longer changed once it
 * is used as a state.
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

/**
 * Adds units to a line, or removes them if negative, and changes the order's amount accordingly.
 */
export function addQuantity(draft: OrderDraft, index: number, units: bigint): void {
  const line = lineAt(draft, index);
  const amount = units * (line.price ?? 0n);
  draft.lines[index] = { ...line, quantity: line.quantity + units, amount: line.amount + amount };
  draft.amount += amount;
  if (line.price !== null) draft.hasAmount = true;
}

/** Appends a line without units. */
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

/** Discounts the price of units, up to the amount left to pay. */
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
