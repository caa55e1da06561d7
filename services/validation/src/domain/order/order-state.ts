import type { UnitExchange, LineFigures, OrderFigures } from "../decision/decision.ts";
import type { CatalogueItem, LineSnapshot, LinePrices, OrderContent } from "../input/facts.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { smallestOf, sumOf } from "./minor-units.ts";

/**
 * The order while redeemables are applied to it one after another. A state is never changed: what a
 * redeemable did is the difference between the state before it and the state after it.
 */
export type OrderState = {
  readonly amount: bigint;
  readonly initialAmount: bigint;
  /** Order-level discounts so far. */
  readonly discountAmount: bigint;
  /** Sum of the discounts of the lines. */
  readonly itemsDiscountAmount: bigint;
  readonly lines: readonly LineState[];
  /** False when nothing in the request tells what the order is worth. */
  readonly hasAmount: boolean;
};

export type LineState = {
  /** What the line is of. */
  readonly snapshot: LineSnapshot;
  /** What a redeemable of this request added the line for; null for one that was sent. */
  readonly addedItem: CatalogueItem | null;
  readonly price: bigint | null;
  readonly quantity: bigint;
  readonly initialQuantity: bigint;
  /** Zero for a line without a price. */
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  /** Exchanges that the line took part in, the latest last. */
  readonly exchanges: readonly UnitExchange[];
};

/** Amounts are JSON numbers in the API, so they end where those stop being exact. */
export const MAX_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);

export const MAX_LINES = 500;

/** What is left to pay. */
export const totalAmount = (state: OrderState): bigint =>
  state.amount - state.discountAmount - state.itemsDiscountAmount;

/** What is left to pay of a line. */
export const subtotalAmount = (line: LineState): bigint => line.amount - line.discountAmount;

/**
 * The state before any redeemable. Must have passed `checkOrder`. Discounts of a stored order whose
 * amount was lowered since are cut to it, so that no total starts below zero.
 */
export function initialOrderState(order: OrderContent | null): OrderState {
  if (order === null) return EMPTY_ORDER;
  if (order.lines.length <= MAX_UNCACHED_LINES) return computeInitialState(order);
  const state = initialStates.get(order) ?? computeInitialState(order);
  initialStates.set(order, state);
  return state;
}

/** Of orders that are decided on again and again: for each candidate, or each tier. */
const initialStates = new WeakMap<OrderContent, OrderState>();

/** So few are read sooner than looked up. */
const MAX_UNCACHED_LINES = 8;

function computeInitialState(order: OrderContent): OrderState {
  const declared = order.amount ?? sumOf(order.lines, (line) => lineAmount(line) ?? 0n);
  let left = declared;
  const lines = order.lines.map((facts) => {
    const line = initialLineState(facts, left);
    left -= line.discountAmount;
    return line;
  });
  return {
    amount: declared,
    initialAmount: order.initialAmount ?? declared,
    discountAmount: smallestOf(order.discountAmount, left),
    itemsDiscountAmount: declared - left,
    lines,
    hasAmount: order.amount !== null || order.lines.some((line) => lineAmount(line) !== null),
  };
}

const EMPTY_ORDER: OrderState = {
  amount: 0n,
  initialAmount: 0n,
  discountAmount: 0n,
  itemsDiscountAmount: 0n,
  lines: [],
  hasAmount: false,
};

function initialLineState(line: LineSnapshot, left: bigint): LineState {
  const quantity = line.quantity ?? 1n;
  const amount = lineAmount(line) ?? 0n;
  return {
    snapshot: line,
    addedItem: null,
    price: unitPrice(line.prices),
    quantity,
    initialQuantity: line.initialQuantity ?? quantity,
    amount,
    initialAmount: line.initialAmount ?? amount,
    discountAmount: smallestOf(line.discountAmount, amount, left),
    discountQuantity: line.discountQuantity,
    exchanges: [],
  };
}

/** What discounted units of a line are counted under; null when the line does not tell. */
export const productKey = ({
  productId,
  productSourceId,
}: Pick<LineSnapshot, "productId" | "productSourceId">): string | null =>
  productId ?? productSourceId;

export const unitPrice = (prices: LinePrices): bigint | null =>
  prices.line ??
  prices.inlineSku ??
  prices.inlineProduct ??
  prices.storedSku ??
  prices.storedProduct;

export function lineAmount(line: LineSnapshot): bigint | null {
  if (line.amount !== null) return line.amount;
  const price = unitPrice(line.prices);
  return price === null ? null : price * (line.quantity ?? 1n);
}

/** Tells what is wrong with an order, or answers null. */
export function checkOrder(order: OrderContent): Rejection | null {
  if (order.lines.length > MAX_LINES) {
    return invalidOrder(`Property .order.items must NOT have more than ${MAX_LINES} items`);
  }
  if (isOutOfRange(order.amount)) return amountOutOfRange(".order.amount");
  let total = 0n;
  for (const [index, line] of order.lines.entries()) {
    const amount = lineAmount(line);
    if (isOutOfRange(line.quantity)) return amountOutOfRange(`.order.items[${index}].quantity`);
    if (isOutOfRange(unitPrice(line.prices))) {
      return amountOutOfRange(`.order.items[${index}].price`);
    }
    if (isOutOfRange(amount)) return amountOutOfRange(`.order.items[${index}].amount`);
    total += amount ?? 0n;
  }
  return isOutOfRange(total) ? amountOutOfRange(".order.amount") : null;
}

const isOutOfRange = (value: bigint | null): boolean =>
  value !== null && (value < 0n || value > MAX_AMOUNT);

const amountOutOfRange = (path: string): Rejection =>
  invalidOrder(`Property ${path} must be an integer from 0 to ${MAX_AMOUNT}`);

const invalidOrder = (details: string): Rejection => ({ key: "invalid_order", details });

/** The figures after `after`; what came between `before` and it counts as applied. */
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
    lines: after.lines.map((line, index) => lineFigures(before.lines[index] ?? NO_LINE, line)),
  };
}

type LineFiguresBase = Pick<
  LineState,
  "quantity" | "amount" | "discountAmount" | "discountQuantity" | "exchanges"
>;

function lineFigures(before: LineFiguresBase, after: LineState): LineFigures {
  return {
    addedItem: after.addedItem,
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

/** What a line that a redeemable added was before it. */
const NO_LINE: LineFiguresBase = {
  quantity: 0n,
  amount: 0n,
  discountAmount: 0n,
  discountQuantity: 0n,
  exchanges: [],
};
