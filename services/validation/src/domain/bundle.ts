import {
  type BundlePart,
  type BundleRules,
  type ItemRef,
  type ValidationRule,
  matchesItem,
} from "@scrip/rules";

import type { BundleResult, IdentifiedItem, MissingItem } from "./bundle-result.ts";
import { least } from "./minor-units.ts";
import type { LineState, OrderState } from "./order.ts";

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
 * Looks for bundles in what was sent, without units that were added for free; of several rules the
 * one that finds the fewest decides (spec/validation-and-redemption.md §1.10).
 */
export function findBundles(rules: readonly ValidationRule[], state: OrderState): Bundles {
  const found = rules.flatMap((rule) =>
    rule.bundle === null
      ? []
      : [{ rule, bundle: rule.bundle, result: bundlesOf(rule.bundle, state) }],
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
    multiplier: least(times, ...others),
    failed: failed.map(({ rule }) => rule),
  };
}

/** The most bundles that fit, found by halving: fewer always fit where more do. */
function bundlesOf({ limit, rules }: BundleRules, state: OrderState): BundleResult {
  const parts = [...rules.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
  const { lines } = state;
  const usable = parts.map(({ items }) =>
    lines.map((line) => items.some((item) => matchesItem(item, line.facts))),
  );
  const assigned = (times: bigint): Assignment => assign({ parts, lines, usable }, times);
  let fits = 0n;
  let above = limit + 1n;
  let assignment: Assignment | null = null;
  let next = limit;
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
      identified: identifiedIn(assignment, parts, lines),
      missing: [],
    };
  }
  const missing = missingIn(assigned(1n), parts);
  return { quantity: 0n, limit, identified: [], missing };
}

/** SKUs first, then products, then collections: the pickier a part is, the earlier it chooses. */
const rankOf = ({ items }: BundlePart): number =>
  Math.max(0, ...items.map(({ object }) => RANKS[object]));

const RANKS = { sku: 0, product: 1, products_collection: 2 } as const;

type Demand = {
  readonly parts: readonly BundlePart[];
  readonly lines: readonly LineState[];
  /** Whether each part can use each line. */
  readonly usable: readonly (readonly boolean[])[];
};

type Assignment = {
  /** Units that each part takes of each line, by the positions of both. */
  readonly taken: readonly (readonly bigint[])[];
  /** Units that each part still lacks. */
  readonly lacking: readonly bigint[];
  readonly isComplete: boolean;
};

/**
 * Gives every part its units, `times` what it asks for. A part that finds nothing free makes others
 * give way to what else they can use: the units flow along augmenting paths, so that none is missing
 * that any assignment could find.
 */
function assign({ parts, lines, usable }: Demand, times: bigint): Assignment {
  const taken = parts.map(() => lines.map(() => 0n));
  const free = lines.map((line) => line.initialQuantity);
  const lacking = parts.map(({ quantity }) => quantity * times);
  for (const part of parts.keys()) {
    let need = lacking[part] ?? 0n;
    while (need > 0n) {
      const moved = augment(part, need, { usable, taken, free });
      if (moved === 0n) break;
      need -= moved;
    }
    lacking[part] = need;
  }
  return { taken, lacking, isComplete: lacking.every((need) => need === 0n) };
}

type Flow = {
  readonly usable: readonly (readonly boolean[])[];
  readonly taken: bigint[][];
  readonly free: bigint[];
};

type Step = { readonly part: number; readonly line: number; readonly from: Step | null };

/**
 * Moves units along the shortest paths from a part to lines with free units; tells how many. One
 * search serves all lines that it finds: a path that others used up meanwhile moves nothing.
 */
function augment(start: number, need: bigint, flow: Flow): bigint {
  const { usable, taken, free } = flow;
  let moved = 0n;
  const seen = new Set<number>();
  // Each part once: the first time round it has seen all lines that it can use.
  const reached = new Set([start]);
  const queue: { readonly part: number; readonly from: Step | null }[] = [
    { part: start, from: null },
  ];
  for (const { part, from } of queue) {
    for (const [line, fits] of (usable[part] ?? []).entries()) {
      if (!fits || seen.has(line)) continue;
      seen.add(line);
      const step: Step = { part, line, from };
      if ((free[line] ?? 0n) > 0n) moved += move(step, need - moved, flow);
      if (moved === need) return moved;
      for (const [holder, units] of taken.entries()) {
        if (reached.has(holder) || (units[line] ?? 0n) === 0n) continue;
        reached.add(holder);
        queue.push({ part: holder, from: step });
      }
    }
  }
  return moved;
}

/** Each part on the way takes of its line what the next one gave up of it. */
function move(last: Step, need: bigint, { taken, free }: Flow): bigint {
  let units = least(need, free[last.line] ?? 0n);
  for (let step = last; step.from !== null; step = step.from) {
    units = least(units, taken[step.part]?.[step.from.line] ?? 0n);
  }
  free[last.line] = (free[last.line] ?? 0n) - units;
  for (let step: Step | null = last; step !== null; step = step.from) {
    add(taken, step.part, step.line, units);
    if (step.from !== null) add(taken, step.part, step.from.line, -units);
  }
  return units;
}

function add(taken: bigint[][], part: number, line: number, units: bigint): void {
  const row = taken[part];
  if (row !== undefined) row[line] = (row[line] ?? 0n) + units;
}

function identifiedIn(
  { taken }: Assignment,
  parts: readonly BundlePart[],
  lines: readonly LineState[],
): readonly IdentifiedItem[] {
  return parts.flatMap(({ items }, part) =>
    lines.flatMap((line, itemIndex): IdentifiedItem[] => {
      const itemQuantity = taken[part]?.[itemIndex] ?? 0n;
      if (itemQuantity === 0n) return [];
      const item = items.find((ref) => matchesItem(ref, line.facts));
      if (item === undefined) return [];
      return [{ ...identityOf(line, item), itemIndex, itemQuantity }];
    }),
  );
}

/** A SKU where that is what was asked for, or where a collection holds a line that carries one. */
function identityOf(
  { facts }: LineState,
  { object, id }: ItemRef,
): Pick<IdentifiedItem, "id" | "object"> {
  const sku = facts.skuId ?? facts.skuSourceId;
  if (object === "sku" || (object === "products_collection" && sku !== null)) {
    return { id: sku ?? id ?? "", object: "sku" };
  }
  return { id: facts.productId ?? facts.productSourceId ?? id ?? "", object: "product" };
}

/** Of alternatives the first stands for all of them. */
function missingIn({ lacking }: Assignment, parts: readonly BundlePart[]): readonly MissingItem[] {
  return parts.flatMap(({ items: [item] }, part) => {
    const itemQuantity = lacking[part] ?? 0n;
    if (itemQuantity === 0n || item === undefined) return [];
    return [{ id: item.id ?? item.sourceId ?? "", object: item.object, itemQuantity }];
  });
}
