import { decimalText } from "@scrip/money";

import type { KnownValue } from "../../formula/value.ts";
import { type ItemIdentity, matchesItem } from "../model/item-ref.ts";

/**
 * Operands are many and fixed, so they are looked up instead of searched: a check costs the values
 * it compares, not that times the operands.
 */
const keySets = new WeakMap<readonly KnownValue[], ReadonlySet<string>>();

/** Whether a value equals one of these; numbers never equal texts, and lists equal nothing. */
export function isAmong(value: KnownValue, values: readonly KnownValue[]): boolean {
  const cached = keySets.get(values) ?? new Set(values.map(keyOf));
  keySets.set(values, cached);
  return value.kind !== "list" && cached.has(keyOf(value));
}

function keyOf(value: KnownValue): string {
  switch (value.kind) {
    case "number":
      return `number ${decimalText(value.value)}`;
    case "text":
    case "boolean":
      return `${value.kind} ${value.value}`;
    case "date":
      return `date ${value.instant}`;
    case "list":
      return "list";
    default:
      return value satisfies never;
  }
}

/** An object with the fields of an `ItemRef`. */
type ItemReference = Parameters<typeof matchesItem>[0];

/** Comparing so few items is faster than a lookup. */
const FEW = 8;

const itemIndices = new WeakMap<readonly ItemReference[], ReadonlyMap<string, readonly number[]>>();

/** Whether the line matches any of the items. */
export function matchesAny(items: readonly ItemReference[], line: ItemIdentity): boolean {
  if (items.length <= FEW) return items.some((item) => matchesItem(item, line));
  const index = indexOf(items);
  const isMeant = (name: string | null): boolean =>
    name !== null && index.get(name)?.some((at) => isAt(items, at, line)) === true;
  return (
    isMeant(line.productId) ||
    isMeant(line.skuId) ||
    isMeant(line.productSourceId) ||
    isMeant(line.skuSourceId) ||
    line.collections.some(isMeant)
  );
}

/** The items that match the line, in their order. */
export function matchingItems<Item extends ItemReference>(
  items: readonly Item[],
  line: ItemIdentity,
): readonly Item[] {
  if (items.length <= FEW) return items.filter((item) => matchesItem(item, line));
  const { productId, skuId, productSourceId, skuSourceId, collections } = line;
  const index = indexOf(items);
  const found: number[] = [];
  for (const name of [productId, skuId, productSourceId, skuSourceId, ...collections]) {
    const named = name === null ? undefined : index.get(name);
    for (const at of named ?? []) if (isAt(items, at, line)) found.push(at);
  }
  if (found.length === 0) return NOTHING;
  const places = found.length === 1 ? found : [...new Set(found)].toSorted((a, b) => a - b);
  return places.flatMap((at) => items[at] ?? []);
}

const NOTHING: readonly never[] = [];

function isAt(items: readonly ItemReference[], at: number, line: ItemIdentity): boolean {
  const item = items[at];
  return item !== undefined && matchesItem(item, line);
}

/** Positions of items by id and source id. */
function indexOf(items: readonly ItemReference[]): ReadonlyMap<string, readonly number[]> {
  const cached = itemIndices.get(items);
  if (cached !== undefined) return cached;
  const index = new Map<string, number[]>();
  for (const [at, { id, sourceId }] of items.entries()) {
    for (const name of [id, sourceId]) {
      if (name === null) continue;
      const named = index.get(name);
      if (named === undefined) index.set(name, [at]);
      else named.push(at);
    }
  }
  itemIndices.set(items, index);
  return index;
}
