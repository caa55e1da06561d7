import type { CatalogueItem } from "../input/catalogue-item.ts";
import {
  type LineState,
  type OrderState,
  type UnitExchange,
  subtotalAmount,
  totalAmount,
} from "./order-state.ts";

/**
 * The figures of a calculated order. The `applied…` ones belong to one redeemable, or to one
 * request. docs/order-calculation.md#figures-in-responses
 */
export type OrderFigures = {
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly itemsDiscountAmount: bigint;
  readonly totalDiscountAmount: bigint;
  readonly totalAmount: bigint;
  readonly appliedDiscountAmount: bigint;
  readonly itemsAppliedDiscountAmount: bigint;
  readonly totalAppliedDiscountAmount: bigint;
  /** At the positions of the lines of the request; added lines follow them. */
  readonly lines: readonly LineFigures[];
};

export type LineFigures = {
  /** The item for which a redeemable added the line; null for a line of the request. */
  readonly addedItem: CatalogueItem | null;
  /** Collections that contain the line. */
  readonly collections: readonly string[];
  readonly price: bigint | null;
  readonly quantity: bigint;
  readonly initialQuantity: bigint;
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  readonly subtotalAmount: bigint;
  readonly appliedDiscountAmount: bigint;
  readonly appliedDiscountQuantity: bigint;
  readonly appliedQuantity: bigint;
  readonly appliedQuantityAmount: bigint;
  /** Exchanges of units of this line. */
  readonly exchanges: readonly UnitExchange[];
};

/** The figures of the state `after`; the differences from `before` are the applied ones. */
export function orderFigures(before: OrderState, after: OrderState): OrderFigures {
  const applied = after.discountAmount - before.discountAmount;
  const itemsApplied = after.itemsDiscountAmount - before.itemsDiscountAmount;
  return {
    amount: after.amount,
    initialAmount: after.initialAmount,
    discountAmount: after.discountAmount,
    itemsDiscountAmount: after.itemsDiscountAmount,
    totalDiscountAmount: after.discountAmount + after.itemsDiscountAmount,
    totalAmount: totalAmount(after),
    appliedDiscountAmount: applied,
    itemsAppliedDiscountAmount: itemsApplied,
    totalAppliedDiscountAmount: applied + itemsApplied,
    lines: after.lines.map((line, index) => lineFigures(before.lines[index] ?? NEW_LINE, line)),
  };
}

type LineBefore = Pick<
  LineState,
  "quantity" | "amount" | "discountAmount" | "discountQuantity" | "exchanges"
>;

function lineFigures(before: LineBefore, after: LineState): LineFigures {
  return {
    addedItem: after.addedItem,
    collections: after.snapshot.collections,
    price: after.price,
    quantity: after.quantity,
    initialQuantity: after.initialQuantity,
    amount: after.amount,
    initialAmount: after.initialAmount,
    discountAmount: after.discountAmount,
    discountQuantity: after.discountQuantity,
    subtotalAmount: subtotalAmount(after),
    appliedDiscountAmount: after.discountAmount - before.discountAmount,
    appliedDiscountQuantity: after.discountQuantity - before.discountQuantity,
    appliedQuantity: after.quantity - before.quantity,
    appliedQuantityAmount: after.amount - before.amount,
    exchanges: after.exchanges.slice(before.exchanges.length),
  };
}

/** The state before a redeemable added the line. */
const NEW_LINE: LineBefore = {
  quantity: 0n,
  amount: 0n,
  discountAmount: 0n,
  discountQuantity: 0n,
  exchanges: [],
};
