import type { ItemScope, ScopeEntry } from "@scrip/rules";

import type { LineSnapshot } from "../input/order.ts";
import { sumOf } from "../order/minor-units.ts";
import type { OrderState } from "../order/order-state.ts";
import type { ScopeMatch } from "./item-scope.ts";
import type { SelectedLine, ItemSelection } from "./item-selection.ts";

/** An applicable item of the rules, and the lines of the order that it matched. */
export type MatchedEntry = ScopeEntry & {
  readonly productSourceId: string | null;
  /** Positions of lines, in the order in which they are discounted. */
  readonly orderItemIndices: readonly number[];
  /** The matched units of the lines, counted from 1, unless all of them matched. */
  readonly orderItemUnits: readonly MatchedUnits[];
};

export type MatchedUnits = {
  readonly index: number;
  /** null if the order has too many units to list them. */
  readonly units: readonly bigint[] | null;
};

/** `applicable_to` and `inapplicable_to`; both are empty without a restriction. */
export type MatchedScope = {
  readonly applicable: readonly MatchedEntry[];
  readonly inapplicable: readonly MatchedEntry[];
};

/** Units are listed one by one up to this number of units in the order. */
const MAX_LISTED_UNITS = 1000n;

export const EMPTY_SCOPE: MatchedScope = { applicable: [], inapplicable: [] };

/** The applicable items of the rules, without an order. */
export const unmatchedScope = (scope: ItemScope | null): MatchedScope =>
  scope === null
    ? EMPTY_SCOPE
    : {
        applicable: scope.included.map((entry) => matchedEntry(entry, [], undefined)),
        inapplicable: scope.excluded.map((entry) => matchedEntry(entry, [], undefined)),
      };

/** The applicable items of the rules, and the lines of the order that they matched. */
export function matchedScope(
  scope: ItemScope | null,
  state: OrderState,
  { lines: selected, matches }: ItemSelection,
): MatchedScope {
  if (scope === null) return EMPTY_SCOPE;
  const listsUnits = sumOf(state.lines, (line) => line.quantity) <= MAX_LISTED_UNITS;
  const snapshotAt = (index: number): LineSnapshot | undefined => state.lines[index]?.snapshot;
  const linesByEntry = Map.groupBy(selected, ({ entry }) => entry);
  const excludedLines = excludedLinesByEntry(matches);
  return {
    applicable: scope.included.map((entry) => {
      const own = linesByEntry.get(entry) ?? [];
      const [first] = own;
      return {
        ...matchedEntry(entry, own, first && snapshotAt(first.index)),
        orderItemUnits: own.flatMap((line) => matchedUnits(entry, line, state, listsUnits)),
      };
    }),
    inapplicable: scope.excluded.map((entry) => {
      const lines = excludedLines.get(entry) ?? [];
      const [first] = lines;
      return matchedEntry(entry, lines, first && snapshotAt(first.index));
    }),
  };
}

type LineReference = { readonly index: number };

/** The lines that each entry excludes. */
function excludedLinesByEntry(
  matches: readonly ScopeMatch[],
): ReadonlyMap<ScopeEntry, readonly LineReference[]> {
  const lines = new Map<ScopeEntry, LineReference[]>();
  for (const [index, match] of matches.entries()) {
    if (match.kind !== "excluded") continue;
    for (const entry of match.entries) {
      const known = lines.get(entry);
      if (known === undefined) lines.set(entry, [{ index }]);
      else known.push({ index });
    }
  }
  return lines;
}

/** Ids that the entry lacks are taken from the first matched line. */
function matchedEntry(
  entry: ScopeEntry,
  lines: readonly LineReference[],
  snapshot: LineSnapshot | undefined,
): MatchedEntry {
  const identity = entry.object === "products_collection" ? undefined : snapshot;
  const [id, sourceId] =
    entry.object === "sku"
      ? [identity?.skuId, identity?.skuSourceId]
      : [identity?.productId, identity?.productSourceId];
  return {
    ...entry,
    id: entry.id ?? id ?? null,
    sourceId: entry.sourceId ?? sourceId ?? null,
    productId: entry.productId ?? (entry.object === "sku" ? (identity?.productId ?? null) : null),
    productSourceId: entry.object === "sku" ? (identity?.productSourceId ?? null) : null,
    orderItemIndices: lines.map(({ index }) => index),
    orderItemUnits: [],
  };
}

function matchedUnits(
  { target }: ScopeEntry,
  { index, units, sequence }: SelectedLine,
  state: OrderState,
  listsUnits: boolean,
): readonly MatchedUnits[] {
  if (target === "ITEM" && units >= (state.lines[index]?.quantity ?? 0n)) return [];
  if (!listsUnits) return [{ index, units: null }];
  const listed = Array.from(
    { length: Number(units) },
    (_, at) => sequence.first + BigInt(at) * sequence.step,
  );
  return [{ index, units: listed }];
}
