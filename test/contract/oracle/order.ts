import type { Figures, ItemFigures, VectorCatalogue, VectorItem, VectorOrder } from "../vector.ts";

/** The order during the calculation. Unlike in the engine, it is mutable. */
export type OracleOrder = {
  amount: bigint;
  initialAmount: bigint;
  /** Order-level discount. */
  discount: bigint;
  lines: OracleLine[];
};

export type OracleLine = {
  product: string | null;
  sku: string | null;
  price: bigint | null;
  quantity: bigint;
  initialQuantity: bigint;
  amount: bigint;
  initialAmount: bigint;
  discount: bigint;
  discountQuantity: bigint;
};

/** The remaining amount: A − D − Σ d. */
export function total(order: OracleOrder): bigint {
  let left = order.amount - order.discount;
  for (const line of order.lines) left -= line.discount;
  return left;
}

export function openOrder(sent: VectorOrder, catalogue: VectorCatalogue): OracleOrder {
  const lines = (sent.items ?? []).map((item) => openLine(item, catalogue));
  let sum = 0n;
  for (const line of lines) sum += line.amount;
  const amount = sent.amount === undefined ? sum : BigInt(sent.amount);
  return { amount, initialAmount: amount, discount: 0n, lines };
}

function openLine(item: VectorItem, catalogue: VectorCatalogue): OracleLine {
  const sku = item.sku === undefined ? undefined : catalogue.skus[item.sku.slice(1)];
  const product = item.product ?? (sku === undefined ? undefined : sku.product);
  const known = product === undefined ? undefined : catalogue.products[product.slice(1)];
  const price = item.price ?? sku?.price ?? known?.price;
  const quantity = BigInt(item.quantity ?? 1);
  const amount = item.amount !== undefined ? BigInt(item.amount) : BigInt(price ?? 0) * quantity;
  return {
    product: product ?? null,
    sku: item.sku ?? null,
    price: price === undefined ? null : BigInt(price),
    quantity,
    initialQuantity: quantity,
    amount,
    initialAmount: amount,
    discount: 0n,
    discountQuantity: 0n,
  };
}

/** Figures of a response (docs/order-calculation.md#figures-in-responses): totals of `after`, applied discounts since `before`. */
export function figuresOf(before: OracleOrder, after: OracleOrder): Figures {
  const itemsBefore = before.lines.reduce((sum, line) => sum + line.discount, 0n);
  const itemsAfter = after.lines.reduce((sum, line) => sum + line.discount, 0n);
  const applied = after.discount - before.discount;
  return {
    amount: Number(after.amount),
    initial_amount: Number(after.initialAmount),
    discount_amount: Number(after.discount),
    items_discount_amount: Number(itemsAfter),
    total_discount_amount: Number(after.discount + itemsAfter),
    total_amount: Number(total(after)),
    applied_discount_amount: Number(applied),
    items_applied_discount_amount: Number(itemsAfter - itemsBefore),
    total_applied_discount_amount: Number(applied + itemsAfter - itemsBefore),
    items: after.lines.map((line, index) => itemFigures(before.lines[index], line)),
  };
}

function itemFigures(before: OracleLine | undefined, line: OracleLine): ItemFigures {
  return {
    ...(line.product !== null && { product: line.product }),
    ...(line.sku !== null && { sku: line.sku }),
    quantity: Number(line.quantity),
    initial_quantity: Number(line.initialQuantity),
    discount_quantity: Number(line.discountQuantity),
    ...(line.price !== null && { price: Number(line.price) }),
    amount: Number(line.amount),
    initial_amount: Number(line.initialAmount),
    discount_amount: Number(line.discount),
    subtotal_amount: Number(line.amount - line.discount),
    applied_discount_amount: Number(line.discount - (before?.discount ?? 0n)),
    applied_discount_quantity: Number(line.discountQuantity - (before?.discountQuantity ?? 0n)),
    applied_quantity: Number(line.quantity - (before?.quantity ?? 0n)),
    applied_quantity_amount: Number(line.amount - (before?.amount ?? 0n)),
  };
}
