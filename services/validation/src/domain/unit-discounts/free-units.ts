import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { type OrderDraft, appendLine, addQuantity, lineAt } from "../order/order-draft.ts";
import { MAX_AMOUNT, MAX_LINES } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";

/** The item of a unit discount: the id in the discount, and the catalogue's item. */
export type GrantedItem = { readonly reference: string; readonly item: CatalogueItem | null };

/**
 * The lines of the item: those of the SKU, or those of the product without a SKU. An item that the
 * catalogue does not contain is matched by the id. docs/order-calculation.md#free-units
 */
export function linesOfItem(
  { lines }: OrderDraft,
  { reference, item }: GrantedItem,
): readonly number[] {
  const carries = (line: LineSnapshot): boolean =>
    item === null ? isReferenced(line, reference) : isSameItem(line, item);
  return [...lines.entries()].flatMap(([index, { snapshot: line }]) =>
    carries(line) ? [index] : [],
  );
}

function isSameItem(line: LineSnapshot, { productId, skuId }: CatalogueItem): boolean {
  if (skuId !== null) return line.skuId === skuId;
  return line.productId === productId && !hasSku(line);
}

function isReferenced(line: LineSnapshot, reference: string): boolean {
  if (line.skuId === reference || line.skuSourceId === reference) return true;
  return (line.productId === reference || line.productSourceId === reference) && !hasSku(line);
}

const hasSku = ({ skuId, skuSourceId }: LineSnapshot): boolean =>
  skuId !== null || skuSourceId !== null;

/** The position of the first line of the item; without one, a new line is appended. */
export function lineForItem(draft: OrderDraft, grant: GrantedItem): number {
  const [existing] = linesOfItem(draft, grant);
  if (existing !== undefined) return existing;
  appendLine(draft, {
    snapshot: newLineSnapshot(grant),
    addedItem: catalogueItemOf(grant),
    price: priceOf(grant),
  });
  return draft.lines.length - 1;
}

/**
 * Adds units to a line. Rejects the discount if the order would exceed the maximum amount or number
 * of lines.
 */
export function addUnits(draft: OrderDraft, index: number, units: bigint): Rejection | null {
  if (draft.lines.length > MAX_LINES) {
    return rejection(`An order cannot have more than ${MAX_LINES} items with what is added to it`);
  }
  addQuantity(draft, index, units);
  const { amount, quantity } = lineAt(draft, index);
  return [draft.amount, amount, quantity].some((value) => value > MAX_AMOUNT)
    ? rejection(`Added units would raise the order above ${MAX_AMOUNT}`)
    : null;
}

const rejection = (details: string): Rejection => ({ key: "invalid_order", details });

/** An item that the catalogue does not contain is treated as a product of that id. */
const catalogueItemOf = ({ reference, item }: GrantedItem): CatalogueItem =>
  item ?? {
    productId: reference,
    skuId: null,
    productSourceId: null,
    skuSourceId: null,
    name: null,
    skuLabel: null,
    price: null,
    productPrice: null,
    metadata: {},
    productMetadata: {},
    collections: [],
  };

const priceOf = ({ item }: GrantedItem): bigint | null =>
  item?.price == null ? null : smallestOf(atLeastZero(item.price), MAX_AMOUNT);

function newLineSnapshot(grant: GrantedItem): LineSnapshot {
  const item = catalogueItemOf(grant);
  const price = priceOf(grant);
  return {
    productId: item.productId,
    skuId: item.skuId,
    productSourceId: item.productSourceId,
    skuSourceId: item.skuSourceId,
    collections: item.collections,
    quantity: 0n,
    amount: null,
    prices: {
      line: price,
      inlineSku: null,
      inlineProduct: null,
      storedSku: null,
      storedProduct: null,
    },
    initialQuantity: 0n,
    initialAmount: 0n,
    discountAmount: 0n,
    discountQuantity: 0n,
    metadata: {},
    productMetadata: item.productMetadata,
  };
}
