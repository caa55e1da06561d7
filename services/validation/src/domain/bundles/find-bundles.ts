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

/** The bundles in the order, for all bundle rules of a redeemable. */
export type Bundles = {
  /** null without bundle rules. */
  readonly result: BundleResult | null;
  /** The operand of formulas; one without bundle rules. */
  readonly quantity: bigint;
  /** The factor of values and unit limits. */
  readonly multiplier: bigint;
  /** The rules without a complete bundle. */
  readonly failed: readonly ValidationRule[];
};

const NO_BUNDLES: Bundles = { result: null, quantity: 1n, multiplier: 1n, failed: [] };

/**
 * Counts bundles in the order as it was sent, without units that redeemables added. With several
 * rules the one with the fewest bundles decides. docs/order-calculation.md#bundles
 */
export function findBundles(rules: readonly ValidationRule[], start: OrderState): Bundles {
  const byRule = rules.flatMap((rule) =>
    rule.bundle === null
      ? []
      : [{ rule, bundle: rule.bundle, result: cachedBundles(rule.bundle, start) }],
  );
  const [first] = byRule;
  if (first === undefined) return NO_BUNDLES;
  const fewest = byRule.reduce((a, b) => (b.result.quantity < a.result.quantity ? b : a), first);
  const multiplied = byRule
    .filter(({ bundle }) => bundle.multiply)
    .map(({ result }) => result.quantity);
  const failed = byRule.filter(({ result }) => result.quantity === 0n);
  const [times = 1n, ...others] = multiplied;
  return {
    result: {
      ...fewest.result,
      // Of several incomplete bundles, the units found and the units missing belong together.
      ...(failed.length > 1 && { identified: failed.flatMap(({ result }) => result.identified) }),
      missing: failed.flatMap(({ result }) => result.missing),
    },
    quantity: fewest.result.quantity,
    multiplier: smallestOf(times, ...others),
    failed: failed.map(({ rule }) => rule),
  };
}

/** Redeemables of one request often share rules, and all read the same lines. */
const bundleResults = new WeakMap<OrderState, Map<BundleRules, BundleResult>>();

function cachedBundles(rules: BundleRules, start: OrderState): BundleResult {
  const results = bundleResults.get(start) ?? new Map<BundleRules, BundleResult>();
  bundleResults.set(start, results);
  const result = results.get(rules) ?? countBundles(rules, start);
  results.set(rules, result);
  return result;
}

/** The maximum number of bundles, by bisection: if n bundles fit, fewer fit as well. */
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
  const incomplete = assigned(1n);
  return {
    quantity: 0n,
    limit,
    identified: identifiedItems(incomplete, parts, lines),
    missing: missingItems(incomplete, parts),
  };
}

/** The most specific part is assigned first: SKUs, then products, then collections. */
const rankOf = ({ items }: BundlePart): number =>
  Math.max(0, ...items.map(({ object }) => RANKS[object]));

const RANKS = { sku: 0, product: 1, products_collection: 2 } as const;

function identifiedItems(
  { assigned }: BundleAssignment,
  parts: readonly BundlePart[],
  lines: readonly LineState[],
): readonly IdentifiedItem[] {
  return parts.flatMap(({ items }, part) =>
    lines.flatMap((line, itemIndex): IdentifiedItem[] => {
      const itemQuantity = assigned[part]?.[itemIndex] ?? 0n;
      if (itemQuantity === 0n) return [];
      const [item] = matchingItems(items, line.snapshot);
      if (item === undefined) return [];
      return [{ ...itemIdentity(line, item), itemIndex, itemQuantity }];
    }),
  );
}

/**
 * The SKU if the rule names one, or if a collection contains a line with a SKU; otherwise the
 * product.
 */
function itemIdentity(
  { snapshot }: LineState,
  { object, id }: ItemRef,
): Pick<IdentifiedItem, "id" | "object"> {
  const sku = snapshot.skuId ?? snapshot.skuSourceId;
  if (object === "sku" || (object === "products_collection" && sku !== null)) {
    return { id: sku ?? id ?? "", object: "sku" };
  }
  return { id: snapshot.productId ?? snapshot.productSourceId ?? id ?? "", object: "product" };
}

/** The first of several alternatives is reported. */
function missingItems(
  { missing }: BundleAssignment,
  parts: readonly BundlePart[],
): readonly MissingItem[] {
  return parts.flatMap(({ items: [item] }, part) => {
    const itemQuantity = missing[part] ?? 0n;
    if (itemQuantity === 0n || item === undefined) return [];
    return [{ id: item.id ?? item.sourceId ?? "", object: item.object, itemQuantity }];
  });
}
