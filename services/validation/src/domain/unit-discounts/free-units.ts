import type { CatalogueItem, LineFacts } from "../input/facts.ts";
import { atLeastZero, least } from "../order/minor-units.ts";
import { type OrderDraft, appendLine, changeUnits, lineAt } from "../order/order-draft.ts";
import { LARGEST_AMOUNT, MOST_LINES } from "../order/order-state.ts";
import type { Refused } from "../rejections/rejection.ts";

/** What a discount gives units of: the id that it names, and what the catalogue knows of it. */
export type GivenItem = { readonly name: string; readonly item: CatalogueItem | null };

/**
 * The lines that carry what is given: those of the SKU, or of the product when it has none. What the
 * catalogue does not know is looked for by the name that it was given.
 */
export function carriersOf({ lines }: OrderDraft, { name, item }: GivenItem): readonly number[] {
  const carries = (facts: LineFacts): boolean =>
    item === null ? isNamed(facts, name) : isOf(facts, item);
  return [...lines.entries()].flatMap(([index, { facts }]) => (carries(facts) ? [index] : []));
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

/** The position of the first line that carries what is given; of a new one at the end, if none does. */
export function carrierFor(draft: OrderDraft, given: GivenItem): number {
  const [carrier] = carriersOf(draft, given);
  if (carrier !== undefined) return carrier;
  appendLine(draft, { facts: factsOf(given), added: itemOf(given), price: priceOf(given) });
  return draft.lines.length - 1;
}

/**
 * Adds units to a line. Orders stay within what the API can tell exactly, and within the lines that one
 * may have: what would break that does not apply.
 */
export function addUnits(draft: OrderDraft, index: number, units: bigint): Refused | null {
  if (draft.lines.length > MOST_LINES) {
    return refused(`An order can not have more than ${MOST_LINES} items with what is added to it`);
  }
  changeUnits(draft, index, units);
  const { amount, quantity } = lineAt(draft, index);
  return [draft.amount, amount, quantity].some((value) => value > LARGEST_AMOUNT)
    ? refused(`Added units would raise the order above ${LARGEST_AMOUNT}`)
    : null;
}

const refused = (details: string): Refused => ({ key: "invalid_order", details });

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
