import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { LineSnapshot } from "../input/order.ts";
import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { type OrderDraft, appendLine, addQuantity, lineAt } from "../order/order-draft.ts";
import { MAX_AMOUNT, MAX_LINES } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";

/** What a discount gives units of: the id that it names, and what the catalogue knows of it. */
export type UnitGiftItem = { readonly reference: string; readonly item: CatalogueItem | null };

/**
 * The lines that carry what is given: those of the SKU, or of the product when it has none. What the
 * catalogue does not know is looked for by the name that it was given.
 */
export function linesOfItem(
  { lines }: OrderDraft,
  { reference: name, item }: UnitGiftItem,
): readonly number[] {
  const carries = (facts: LineSnapshot): boolean =>
    item === null ? isReferenced(facts, name) : isSameItem(facts, item);
  return [...lines.entries()].flatMap(([index, { snapshot: facts }]) =>
    carries(facts) ? [index] : [],
  );
}

function isSameItem(facts: LineSnapshot, { productId, skuId }: CatalogueItem): boolean {
  if (skuId !== null) return facts.skuId === skuId;
  return facts.productId === productId && !hasSku(facts);
}

function isReferenced(facts: LineSnapshot, name: string): boolean {
  if (facts.skuId === name || facts.skuSourceId === name) return true;
  return (facts.productId === name || facts.productSourceId === name) && !hasSku(facts);
}

const hasSku = ({ skuId, skuSourceId }: LineSnapshot): boolean =>
  skuId !== null || skuSourceId !== null;

/** The position of the first line that carries what is given; of a new one at the end, if none does. */
export function lineForItem(draft: OrderDraft, given: UnitGiftItem): number {
  const [carrier] = linesOfItem(draft, given);
  if (carrier !== undefined) return carrier;
  appendLine(draft, {
    snapshot: newLineSnapshot(given),
    addedItem: catalogueItemOf(given),
    price: priceOf(given),
  });
  return draft.lines.length - 1;
}

/**
 * Adds units to a line. Orders stay within what the API can tell exactly, and within the lines that one
 * may have: what would break that does not apply.
 */
export function addUnits(draft: OrderDraft, index: number, units: bigint): Rejection | null {
  if (draft.lines.length > MAX_LINES) {
    return rejection(`An order can not have more than ${MAX_LINES} items with what is added to it`);
  }
  addQuantity(draft, index, units);
  const { amount, quantity } = lineAt(draft, index);
  return [draft.amount, amount, quantity].some((value) => value > MAX_AMOUNT)
    ? rejection(`Added units would raise the order above ${MAX_AMOUNT}`)
    : null;
}

const rejection = (details: string): Rejection => ({ key: "invalid_order", details });

/** What an added line is of, where the catalogue does not know it: a product of that id. */
const catalogueItemOf = ({ reference: name, item }: UnitGiftItem): CatalogueItem =>
  item ?? {
    productId: name,
    skuId: null,
    productSourceId: null,
    skuSourceId: null,
    name: null,
    skuLabel: null,
    price: null,
    metadata: {},
    productMetadata: {},
    collections: [],
  };

const priceOf = ({ item }: UnitGiftItem): bigint | null =>
  item?.price == null ? null : smallestOf(atLeastZero(item.price), MAX_AMOUNT);

function newLineSnapshot(given: UnitGiftItem): LineSnapshot {
  const item = catalogueItemOf(given);
  const price = priceOf(given);
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
