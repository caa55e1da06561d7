import type { ItemScope, ScopeEntry } from "@scrip/rules";

import type { MatchedEntry, MatchedScope, MatchedUnits } from "../decision/decision.ts";
import type { LineSnapshot } from "../input/facts.ts";
import { sumOf } from "../order/minor-units.ts";
import type { OrderState } from "../order/order-state.ts";
import type { ScopeMatch } from "./item-scope.ts";
import type { SelectedLine, ItemSelection } from "./item-selection.ts";

/** From how many units in an order on they are no longer told one by one. */
const MAX_LISTED_UNITS = 1000n;

export const EMPTY_SCOPE: MatchedScope = { applicable: [], inapplicable: [] };

/** What a redeemable is limited to, as its rules say it, without an order to look at. */
export const unmatchedScope = (scope: ItemScope | null): MatchedScope =>
  scope === null
    ? EMPTY_SCOPE
    : {
        applicable: scope.included.map((entry) => matchedEntry(entry, [], undefined)),
        inapplicable: scope.excluded.map((entry) => matchedEntry(entry, [], undefined)),
      };

/** What a redeemable is limited to, and what of the order its entries reached. */
export function matchedScope(
  scope: ItemScope | null,
  state: OrderState,
  { lines: picks, matches: belongings }: ItemSelection,
): MatchedScope {
  if (scope === null) return EMPTY_SCOPE;
  const tellsUnits = sumOf(state.lines, (line) => line.quantity) <= MAX_LISTED_UNITS;
  const factsAt = (index: number): LineSnapshot | undefined => state.lines[index]?.snapshot;
  const picksOf = Map.groupBy(picks, ({ entry }) => entry);
  const hitsOf = excludedLinesByEntry(belongings);
  return {
    applicable: scope.included.map((entry) => {
      const own = picksOf.get(entry) ?? [];
      const [first] = own;
      return {
        ...matchedEntry(entry, own, first && factsAt(first.index)),
        orderItemUnits: own.flatMap((pick) => matchedUnits(entry, pick, state, tellsUnits)),
      };
    }),
    inapplicable: scope.excluded.map((entry) => {
      const hits = hitsOf.get(entry) ?? [];
      const [first] = hits;
      return matchedEntry(entry, hits, first && factsAt(first.index));
    }),
  };
}

type LineReference = { readonly index: number };

/** The lines that each entry excludes. */
function excludedLinesByEntry(
  belongings: readonly ScopeMatch[],
): ReadonlyMap<ScopeEntry, readonly LineReference[]> {
  const hits = new Map<ScopeEntry, LineReference[]>();
  for (const [index, belonging] of belongings.entries()) {
    if (belonging.kind !== "excluded") continue;
    for (const entry of belonging.entries) {
      const known = hits.get(entry);
      if (known === undefined) hits.set(entry, [{ index }]);
      else known.push({ index });
    }
  }
  return hits;
}

/** What a line that was reached tells of the product stands in for what the entry leaves out. */
function matchedEntry(
  entry: ScopeEntry,
  hits: readonly LineReference[],
  facts: LineSnapshot | undefined,
): MatchedEntry {
  const named = entry.object === "products_collection" ? undefined : facts;
  const [id, sourceId] =
    entry.object === "sku"
      ? [named?.skuId, named?.skuSourceId]
      : [named?.productId, named?.productSourceId];
  return {
    ...entry,
    id: entry.id ?? id ?? null,
    sourceId: entry.sourceId ?? sourceId ?? null,
    productId: entry.productId ?? (entry.object === "sku" ? (named?.productId ?? null) : null),
    productSourceId: entry.object === "sku" ? (named?.productSourceId ?? null) : null,
    orderItemIndices: hits.map(({ index }) => index),
    orderItemUnits: [],
  };
}

function matchedUnits(
  { target }: ScopeEntry,
  { index, units, sequence: run }: SelectedLine,
  state: OrderState,
  tellsUnits: boolean,
): readonly MatchedUnits[] {
  if (target === "ITEM" && units >= (state.lines[index]?.quantity ?? 0n)) return [];
  if (!tellsUnits) return [{ index, units: null }];
  const told = Array.from({ length: Number(units) }, (_, at) => run.first + BigInt(at) * run.step);
  return [{ index, units: told }];
}
