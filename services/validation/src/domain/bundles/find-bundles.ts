import {
  type BundlePart,
  type BundleRules,
  type ItemRef,
  type ValidationRule,
  matchesAny,
  matchingItems,
} from "@scrip/rules";

import { smallestOf } from "../order/minor-units.ts";
import type { LineState, OrderState } from "../order/order-state.ts";
import { type BundleAssignment, assignUnits, upperBound } from "./bundle-assignment.ts";
import type { BundleResult, IdentifiedItem, MissingItem } from "./bundle-result.ts";

/** How often the order holds what the rules of a redeemable ask for together. */
export type Bundles = {
  /** Null without bundle rules. */
  readonly result: BundleResult | null;
  /** What formulas read; one without bundle rules. */
  readonly quantity: bigint;
  /** What values and unit limits are multiplied by. */
  readonly multiplier: bigint;
  /** The rules that found no bundle at all. */
  readonly failed: readonly ValidationRule[];
};

const NO_BUNDLES: Bundles = { result: null, quantity: 1n, multiplier: 1n, failed: [] };

/**
 * Looks for bundles in the order as it was sent, without units that redeemables added for free; of
 * several rules the one that finds the fewest decides (spec/validation-and-redemption.md §1.10).
 */
export function findBundles(rules: readonly ValidationRule[], start: OrderState): Bundles {
  const found = rules.flatMap((rule) =>
    rule.bundle === null
      ? []
      : [{ rule, bundle: rule.bundle, result: cachedBundles(rule.bundle, start) }],
  );
  const [first] = found;
  if (first === undefined) return NO_BUNDLES;
  const fewest = found.reduce((a, b) => (b.result.quantity < a.result.quantity ? b : a), first);
  const multiplied = found
    .filter(({ bundle }) => bundle.multiply)
    .map(({ result }) => result.quantity);
  const failed = found.filter(({ result }) => result.quantity === 0n);
  const [times = 1n, ...others] = multiplied;
  return {
    result: { ...fewest.result, missing: failed.flatMap(({ result }) => result.missing) },
    quantity: fewest.result.quantity,
    multiplier: smallestOf(times, ...others),
    failed: failed.map(({ rule }) => rule),
  };
}

/** Redeemables of one request often have the same rule, and all look at the same lines. */
const bundleResults = new WeakMap<OrderState, Map<BundleRules, BundleResult>>();

function cachedBundles(rules: BundleRules, start: OrderState): BundleResult {
  const results = bundleResults.get(start) ?? new Map<BundleRules, BundleResult>();
  bundleResults.set(start, results);
  const result = results.get(rules) ?? countBundles(rules, start);
  results.set(rules, result);
  return result;
}

/** The most bundles that fit, found by halving: fewer always fit where more do. */
function countBundles({ limit, rules }: BundleRules, start: OrderState): BundleResult {
  const parts = [...rules.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
  const { lines } = start;
  const usable = parts.map(({ items }) => lines.map((line) => matchesAny(items, line.snapshot)));
  const assigned = (times: bigint): BundleAssignment =>
    assignUnits({ parts, lines, usable }, times);
  let fits = 0n;
  let next = upperBound({ parts, lines, usable }, limit);
  let above = next + 1n;
  let assignment: BundleAssignment | null = null;
  while (above - fits > 1n) {
    const tried = assigned(next);
    if (tried.isComplete) {
      fits = next;
      assignment = tried;
    } else {
      above = next;
    }
    next = (fits + above) / 2n;
  }
  if (assignment !== null) {
    return {
      quantity: fits,
      limit,
      identified: identifiedItems(assignment, parts, lines),
      missing: [],
    };
  }
  const missing = missingItems(assigned(1n), parts);
  return { quantity: 0n, limit, identified: [], missing };
}

/** SKUs first, then products, then collections: the pickier a part is, the earlier it chooses. */
const rankOf = ({ items }: BundlePart): number =>
  Math.max(0, ...items.map(({ object }) => RANKS[object]));

const RANKS = { sku: 0, product: 1, products_collection: 2 } as const;

function identifiedItems(
  { assigned: taken }: BundleAssignment,
  parts: readonly BundlePart[],
  lines: readonly LineState[],
): readonly IdentifiedItem[] {
  return parts.flatMap(({ items }, part) =>
    lines.flatMap((line, itemIndex): IdentifiedItem[] => {
      const itemQuantity = taken[part]?.[itemIndex] ?? 0n;
      if (itemQuantity === 0n) return [];
      const [item] = matchingItems(items, line.snapshot);
      if (item === undefined) return [];
      return [{ ...itemIdentity(line, item), itemIndex, itemQuantity }];
    }),
  );
}

/** A SKU where that is what was asked for, or where a collection holds a line that carries one. */
function itemIdentity(
  { snapshot: facts }: LineState,
  { object, id }: ItemRef,
): Pick<IdentifiedItem, "id" | "object"> {
  const sku = facts.skuId ?? facts.skuSourceId;
  if (object === "sku" || (object === "products_collection" && sku !== null)) {
    return { id: sku ?? id ?? "", object: "sku" };
  }
  return { id: facts.productId ?? facts.productSourceId ?? id ?? "", object: "product" };
}

/** Of alternatives the first stands for all of them. */
function missingItems(
  { missing: lacking }: BundleAssignment,
  parts: readonly BundlePart[],
): readonly MissingItem[] {
  return parts.flatMap(({ items: [item] }, part) => {
    const itemQuantity = lacking[part] ?? 0n;
    if (itemQuantity === 0n || item === undefined) return [];
    return [{ id: item.id ?? item.sourceId ?? "", object: item.object, itemQuantity }];
  });
}
