import type { CatalogueItem, LineFacts } from "./facts.ts";
import { atLeastZero, least } from "./minor-units.ts";
import { appendLine, changeUnits } from "./order-change.ts";
import { LARGEST_AMOUNT, MOST_LINES, type OrderState } from "./order.ts";
import type { Refused } from "./refusal.ts";

/** The order with what was given, or why it can not be. */
export type Given =
  | { readonly kind: "given"; readonly state: OrderState }
  | { readonly kind: "refused"; readonly refusal: Refused };

/** What a discount gives units of: the id that it names, and what the catalogue knows of it. */
export type GivenItem = { readonly name: string; readonly item: CatalogueItem | null };

/**
 * The lines that carry what is given: those of the SKU, or of the product when it has none. What the
 * catalogue does not know is looked for by the name that it was given.
 */
export function carriersOf(state: OrderState, { name, item }: GivenItem): readonly number[] {
  return [...state.lines.keys()].filter((index) => {
    const facts = state.lines[index]?.facts;
    return facts !== undefined && (item === null ? isNamed(facts, name) : isOf(facts, item));
  });
}

function isOf(facts: LineFacts, { productId, skuId }: CatalogueItem): boolean {
  if (skuId !== null) return facts.skuId === skuId;
  return facts.productId === productId && !hasSku(facts);
}

function isNamed(facts: LineFacts, name: string): boolean {
  if (facts.skuId === name || facts.skuSourceId === name) return true;
  return (facts.productId === name || facts.productSourceId === name) && !hasSku(facts);
}

const hasSku = ({ skuId, skuSourceId }: LineFacts): boolean =>
  skuId !== null || skuSourceId !== null;

export type Addition =
  | { readonly kind: "added"; readonly state: OrderState; readonly index: number }
  | { readonly kind: "refused"; readonly refusal: Refused };

/** Adds units to the first line that carries them, or to a new one at the end. */
export function addUnits(state: OrderState, given: GivenItem, units: bigint): Addition {
  const [carrier] = carriersOf(state, given);
  const index = carrier ?? state.lines.length;
  const lined =
    carrier === undefined
      ? appendLine(state, { facts: factsOf(given), added: itemOf(given), price: priceOf(given) })
      : state;
  return addTo(lined, index, units);
}

/**
 * Adds units to a line. Orders stay within what the API can tell exactly, and within the lines that one
 * may have: what would break that does not apply.
 */
export function addTo(state: OrderState, index: number, units: bigint): Addition {
  if (state.lines.length > MOST_LINES) {
    return refused(`An order can not have more than ${MOST_LINES} items with what is added to it`);
  }
  const changed = changeUnits(state, index, units);
  const line = changed.lines[index];
  const largest = [changed.amount, line?.amount ?? 0n, line?.quantity ?? 0n];
  if (largest.some((value) => value > LARGEST_AMOUNT)) {
    return refused(`Added units would raise the order above ${LARGEST_AMOUNT}`);
  }
  return { kind: "added", state: changed, index };
}

const refused = (details: string): Addition => ({
  kind: "refused",
  refusal: { key: "invalid_order", details },
});

/** What an added line is of, where the catalogue does not know it: a product of that id. */
const itemOf = ({ name, item }: GivenItem): CatalogueItem =>
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

const priceOf = ({ item }: GivenItem): bigint | null =>
  item?.price == null ? null : least(atLeastZero(item.price), LARGEST_AMOUNT);

function factsOf(given: GivenItem): LineFacts {
  const item = itemOf(given);
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
