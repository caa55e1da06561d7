import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot, LinePrices, OrderContent } from "../input/order.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { smallestOf, sumOf } from "./minor-units.ts";

/**
 * The order while redeemables are applied to it one after another. States are immutable: the effect
 * of a redeemable is the difference between the state before it and the state after it.
 */
export type OrderState = {
  readonly amount: bigint;
  readonly initialAmount: bigint;
  /** Order-level discounts so far. */
  readonly discountAmount: bigint;
  /** Sum of the discounts of the lines. */
  readonly itemsDiscountAmount: bigint;
  readonly lines: readonly LineState[];
  /** False if the request contains neither an amount nor a price. */
  readonly hasAmount: boolean;
};

export type LineState = {
  readonly snapshot: LineSnapshot;
  /**
   * The item for which a redeemable of this request added the line; null for a line of the request.
   */
  readonly addedItem: CatalogueItem | null;
  readonly price: bigint | null;
  readonly quantity: bigint;
  readonly initialQuantity: bigint;
  /** Zero for a line without a price. */
  readonly amount: bigint;
  readonly initialAmount: bigint;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  /** Exchanges of units of this line, the latest last. */
  readonly exchanges: readonly UnitExchange[];
};

/**
 * Units of one line that were exchanged for units of another.
 * docs/order-calculation.md#replaced-items
 */
export type UnitExchange = {
  readonly sourceIndex: number;
  /** Negative: removed. */
  readonly sourceAppliedQuantity: bigint;
  readonly sourceAppliedQuantityAmount: bigint;
  readonly targetIndex: number;
  readonly targetAppliedQuantity: bigint;
  readonly targetAppliedQuantityAmount: bigint;
  readonly targetAppliedDiscountAmount: bigint;
};

/** Amounts are JSON numbers in the API; larger ones would not be exact. */
export const MAX_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);

export const MAX_LINES = 500;

/** The amount left to pay. docs/order-calculation.md#equations */
export const totalAmount = (state: OrderState): bigint =>
  state.amount - state.discountAmount - state.itemsDiscountAmount;

/** The amount left to pay for a line. */
export const subtotalAmount = (line: LineState): bigint => line.amount - line.discountAmount;

/**
 * The state before any redeemable. The order must have passed `checkOrder`. Discounts of a stored
 * order whose amount was lowered afterwards are limited to it, so that no total is negative.
 */
export function initialOrderState(order: OrderContent | null): OrderState {
  if (order === null) return EMPTY_ORDER;
  if (order.lines.length <= MAX_UNCACHED_LINES) return computeInitialState(order);
  const state = initialStates.get(order) ?? computeInitialState(order);
  initialStates.set(order, state);
  return state;
}

/** Orders are evaluated repeatedly: once for each candidate or tier. */
const initialStates = new WeakMap<OrderContent, OrderState>();

/** Computing so few lines is faster than the lookup. */
const MAX_UNCACHED_LINES = 8;

function computeInitialState(order: OrderContent): OrderState {
  const amount = order.amount ?? sumOf(order.lines, (line) => lineAmount(line) ?? 0n);
  let left = amount;
  const lines = order.lines.map((snapshot) => {
    const line = initialLineState(snapshot, left);
    left -= line.discountAmount;
    return line;
  });
  return {
    amount,
    initialAmount: order.initialAmount ?? amount,
    discountAmount: smallestOf(order.discountAmount, left),
    itemsDiscountAmount: amount - left,
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

/** The product id under which discounted units of a line are counted; null without one. */
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

/** Rejects orders that are too large. docs/order-calculation.md#input-order */
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
