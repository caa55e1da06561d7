import type { ItemScope, ScopeEntry } from "@scrip/rules";

import type { ReachedEntry, ReachedScope, ReachedUnits } from "../decision/decision.ts";
import type { LineFacts } from "../input/facts.ts";
import { sumOf } from "../order/minor-units.ts";
import type { OrderState } from "../order/order-state.ts";
import type { Belonging } from "./item-scope.ts";
import type { LinePick, Selection } from "./item-selection.ts";

/** From how many units in an order on they are no longer told one by one. */
const MOST_UNITS_TOLD = 1000n;

export const NOTHING_REACHED: ReachedScope = { applicable: [], inapplicable: [] };

/** What a redeemable is limited to, as its rules say it, without an order to look at. */
export const storedScope = (scope: ItemScope | null): ReachedScope =>
  scope === null
    ? NOTHING_REACHED
    : {
        applicable: scope.included.map((entry) => reached(entry, [], undefined)),
        inapplicable: scope.excluded.map((entry) => reached(entry, [], undefined)),
      };

/** What a redeemable is limited to, and what of the order its entries reached. */
export function reachedScope(
  scope: ItemScope | null,
  state: OrderState,
  { picks, belongings }: Selection,
): ReachedScope {
  if (scope === null) return NOTHING_REACHED;
  const tellsUnits = sumOf(state.lines, (line) => line.quantity) <= MOST_UNITS_TOLD;
  const factsAt = (index: number): LineFacts | undefined => state.lines[index]?.facts;
  const picksOf = Map.groupBy(picks, ({ entry }) => entry);
  const hitsOf = hitsByEntry(belongings);
  return {
    applicable: scope.included.map((entry) => {
      const own = picksOf.get(entry) ?? [];
      const [first] = own;
      return {
        ...reached(entry, own, first && factsAt(first.index)),
        orderItemUnits: own.flatMap((pick) => unitsOf(entry, pick, state, tellsUnits)),
      };
    }),
    inapplicable: scope.excluded.map((entry) => {
      const hits = hitsOf.get(entry) ?? [];
      const [first] = hits;
      return reached(entry, hits, first && factsAt(first.index));
    }),
  };
}

type Hit = { readonly index: number };

/** The lines that each entry excludes. */
function hitsByEntry(belongings: readonly Belonging[]): ReadonlyMap<ScopeEntry, readonly Hit[]> {
  const hits = new Map<ScopeEntry, Hit[]>();
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
function reached(
  entry: ScopeEntry,
  hits: readonly Hit[],
  facts: LineFacts | undefined,
): ReachedEntry {
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

function unitsOf(
  { target }: ScopeEntry,
  { index, units, run }: LinePick,
  state: OrderState,
  tellsUnits: boolean,
): readonly ReachedUnits[] {
  if (target === "ITEM" && units >= (state.lines[index]?.quantity ?? 0n)) return [];
  if (!tellsUnits) return [{ index, units: null }];
  const told = Array.from({ length: Number(units) }, (_, at) => run.first + BigInt(at) * run.step);
  return [{ index, units: told }];
}
