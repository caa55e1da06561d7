import { decimalText } from "@scrip/money";

import type { KnownValue } from "../formula/value.ts";
import { type ItemIdentity, type ItemRef, matchesItem } from "./items.ts";

/**
 * Operands are many and fixed, so they are looked up instead of searched: a rule costs what is
 * compared with it, not that times its operands.
 */
const keySets = new WeakMap<readonly KnownValue[], ReadonlySet<string>>();

/** Whether a value equals one of these; numbers never equal texts, and lists equal nothing. */
export function isAmong(value: KnownValue, values: readonly KnownValue[]): boolean {
  const known = keySets.get(values) ?? new Set(values.map(keyOf));
  keySets.set(values, known);
  return value.kind !== "list" && known.has(keyOf(value));
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

const itemIndices = new WeakMap<readonly ItemRef[], ReadonlyMap<string, readonly ItemRef[]>>();

/** Whether one of the items is what a line is. */
export function matchesAny(items: readonly ItemRef[], line: ItemIdentity): boolean {
  const index = itemIndices.get(items) ?? indexOf(items);
  itemIndices.set(items, index);
  const { productId, skuId, productSourceId, skuSourceId, collections } = line;
  const isMeant = (name: string | null): boolean =>
    name !== null && (index.get(name) ?? []).some((item) => matchesItem(item, line));
  return [productId, skuId, productSourceId, skuSourceId, ...collections].some(isMeant);
}

function indexOf(items: readonly ItemRef[]): ReadonlyMap<string, readonly ItemRef[]> {
  const index = new Map<string, ItemRef[]>();
  for (const item of items) {
    for (const name of [item.id, item.sourceId]) {
      if (name === null) continue;
      const named = index.get(name);
      if (named === undefined) index.set(name, [item]);
      else named.push(item);
    }
  }
  return index;
}
