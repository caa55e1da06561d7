import type { ItemScope, ScopeEntry } from "@scrip/rules";

import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import {
  type LineState,
  type OrderState,
  productKey,
  subtotalAmount,
} from "../order/order-state.ts";
import type { StackingRules } from "../stacking/stacking-rules.ts";
import { type ScopeMatch, matchScope } from "./item-scope.ts";

/** A line that an item-level effect discounts, and how many of its units. */
export type SelectedLine = {
  readonly index: number;
  readonly units: bigint;
  /** The selected units, counted from 1; the first ones are discounted. */
  readonly sequence: UnitSequence;
  /** null if no entry selected the line. */
  readonly entry: ScopeEntry | null;
};

/** The units `first`, `first + step`, … of a line, `count` of them. */
export type UnitSequence = {
  readonly first: bigint;
  readonly step: bigint;
  readonly count: bigint;
};

export type ItemSelection = {
  /** In the order in which they are discounted. */
  readonly lines: readonly SelectedLine[];
  /** The match of each line of the order. */
  readonly matches: readonly ScopeMatch[];
};

export type SelectionOptions = {
  readonly scope: ItemScope | null;
  /** The order before any redeemable of the request. */
  readonly start: OrderState;
  readonly productsMode: StackingRules["redeemablesProductsApplicationMode"];
  /** The factor of limits on units: the number of bundles, or one. */
  readonly multiplier: bigint;
  readonly remainingBudget: RemainingBudget;
};

/**
 * The units that the budgets of the entry leave for a line after `selected` units of its product.
 */
export type RemainingBudget = (entry: ScopeEntry, index: number, selected: bigint) => bigint | null;

/**
 * Selects the lines and units of an item-level effect. Lines of entries that apply to every line
 * keep the order of the request and come before those of entries that sort by price.
 * docs/order-calculation.md#selecting-lines-and-units
 */
export function selectItems(state: OrderState, options: SelectionOptions): ItemSelection {
  const { scope } = options;
  const matches = state.lines.map((line) => matchScope(line.snapshot, scope));
  const groups = new Map<ScopeEntry | null, number[]>();
  for (const [index, match] of matches.entries()) {
    const entry = entryOf(match);
    if (entry === undefined || isAlreadyDiscounted(state, index, options)) continue;
    const group = groups.get(entry);
    if (group === undefined) groups.set(entry, [index]);
    else group.push(index);
  }
  const every: SelectedLine[] = [];
  const sorted: SelectedLine[] = [];
  const selectedByProduct = new Map<string, bigint>();
  for (const entry of orderedEntries(scope)) {
    const candidates = groups.get(entry);
    if (candidates === undefined) continue;
    const takesEvery = entry === null || entry.effect === "APPLY_TO_EVERY";
    (takesEvery ? every : sorted).push(
      ...applyLimits(selectForEntry(entry, candidates, state), {
        state,
        options,
        selectedByProduct,
      }),
    );
  }
  return {
    lines: [...every.toSorted((a, b) => a.index - b.index), ...sorted],
    matches,
  };
}

const orderedEntries = (scope: ItemScope | null): readonly (ScopeEntry | null)[] =>
  scope === null ? [null] : [null, ...scope.included];

function entryOf(match: ScopeMatch): ScopeEntry | null | undefined {
  if (match.kind === "entry") return match.entry;
  return match.kind === "all" ? null : undefined;
}

/** In mode ONCE, lines that earlier redeemables of the request discounted or added are excluded. */
function isAlreadyDiscounted(state: OrderState, index: number, options: SelectionOptions): boolean {
  if (options.productsMode === "STACK") return false;
  const before = options.start.lines[index];
  const line = state.lines[index];
  return (
    before === undefined ||
    line?.discountAmount !== before.discountAmount ||
    line.discountQuantity !== before.discountQuantity ||
    line.quantity !== before.quantity
  );
}

/** Selects the lines of one entry by its effect. */
function selectForEntry(
  entry: ScopeEntry | null,
  candidates: readonly number[],
  state: OrderState,
): readonly SelectedLine[] {
  const lines = candidates.map((index): Candidate => ({ index, line: lineStateAt(state, index) }));
  if (entry === null) return lines.map(({ index, line }) => selectWholeLine(index, line, null));
  return applyEntryEffect(entry, sortByPrice(entry, lines));
}

type Candidate = { readonly index: number; readonly line: LineState };

function lineStateAt(state: OrderState, index: number): LineState {
  const line = state.lines[index];
  if (line === undefined) throw new RangeError(`the order has no line ${index}`);
  return line;
}

/** Sorts by price, then by subtotal, then by position; lines without a price come last. */
function sortByPrice({ effect }: ScopeEntry, lines: readonly Candidate[]): readonly Candidate[] {
  if (effect === "APPLY_TO_EVERY") return lines;
  const sign = effect === "APPLY_TO_CHEAPEST" || effect === "APPLY_FROM_CHEAPEST" ? 1n : -1n;
  const present = lines.filter(({ line }) => line.quantity > 0n);
  return present.toSorted((a, b) => comparePrices(a.line, b.line, sign) || a.index - b.index);
}

function comparePrices(a: LineState, b: LineState, sign: 1n | -1n): number {
  if (a.price === null || b.price === null) {
    return a.price === b.price ? 0 : a.price === null ? 1 : -1;
  }
  const byPrice = (a.price - b.price) * sign;
  return signOf(byPrice === 0n ? subtotalAmount(a) - subtotalAmount(b) : byPrice);
}

const signOf = (difference: bigint): number => (difference === 0n ? 0 : difference < 0n ? -1 : 1);

/**
 * Selects the positions given by `skip_initially` and `repeat`; positions of units continue across
 * lines.
 */
function applyEntryEffect(entry: ScopeEntry, lines: readonly Candidate[]): readonly SelectedLine[] {
  const takesOne =
    entry.effect === "APPLY_TO_CHEAPEST" || entry.effect === "APPLY_TO_MOST_EXPENSIVE";
  if (entry.target === "ITEM") {
    const chosen = takesOne
      ? lines.slice(0, 1)
      : lines.filter((_, position) => isSelectedPosition(BigInt(position), entry));
    return chosen.map(({ index, line }) => selectWholeLine(index, line, entry));
  }
  if (takesOne) {
    const sequence = { first: 1n, step: 1n, count: 1n };
    return lines.slice(0, 1).map(({ index }) => ({ index, units: 1n, sequence, entry }));
  }
  const selected: SelectedLine[] = [];
  let counted = 0n;
  for (const { index, line } of lines) {
    const run = sequenceWithin(counted, line.quantity, entry);
    if (run.count > 0n) selected.push({ index, units: run.count, sequence: run, entry });
    counted += line.quantity;
  }
  return selected;
}

const isSelectedPosition = (position: bigint, { skipInitially, repeat }: ScopeEntry): boolean =>
  position >= skipInitially && (position - skipInitially) % repeat === 0n;

/** The selected units of a line of `quantity` units, after `counted` units of earlier lines. */
function sequenceWithin(
  counted: bigint,
  quantity: bigint,
  { skipInitially, repeat }: ScopeEntry,
): UnitSequence {
  const late = atLeastZero(counted - skipInitially);
  // The first selected position, counted from zero, that is not before `counted`.
  const next = skipInitially + ((late + repeat - 1n) / repeat) * repeat;
  const first = next - counted + 1n;
  const count = first > quantity ? 0n : (quantity - first) / repeat + 1n;
  return { first, step: repeat, count };
}

const selectWholeLine = (
  index: number,
  line: LineState,
  entry: ScopeEntry | null,
): SelectedLine => ({
  index,
  units: line.quantity,
  sequence: { first: 1n, step: 1n, count: line.quantity },
  entry,
});

type LimitContext = {
  readonly state: OrderState;
  readonly options: SelectionOptions;
  /** Selected units by product, over all entries. */
  readonly selectedByProduct: Map<string, bigint>;
};

/** The lowest of several limits applies; the first lines are selected until it is reached. */
function applyLimits(
  selected: readonly SelectedLine[],
  { state, options: { multiplier, remainingBudget }, selectedByProduct }: LimitContext,
): readonly SelectedLine[] {
  const limited: SelectedLine[] = [];
  let sum = 0n;
  for (const line of selected) {
    const { entry, index } = line;
    const product = productKey(lineStateAt(state, index).snapshot) ?? "";
    const before = selectedByProduct.get(product) ?? 0n;
    const units =
      entry === null
        ? line.units
        : smallestOf(
            line.units,
            multipliedLimit(entry.quantityLimit, multiplier),
            multipliedLimit(entry.aggregatedQuantityLimit, multiplier, sum),
            entry.budgets.length === 0 ? null : remainingBudget(entry, index, before),
          );
    // A line without units is selected unless a limit excludes it.
    if (units <= 0n && line.units > 0n) continue;
    sum += units;
    selectedByProduct.set(product, before + units);
    limited.push({ ...line, units });
  }
  return limited;
}

const multipliedLimit = (limit: bigint | null, multiplier: bigint, used = 0n): bigint | null =>
  limit === null ? null : limit * multiplier - used;
