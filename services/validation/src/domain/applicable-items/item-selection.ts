import type { ItemScope, ScopeEntry } from "@scrip/rules";

import { atLeastZero, least } from "../order/minor-units.ts";
import {
  type LineState,
  type OrderState,
  productOf,
  subtotalAmount,
} from "../order/order-state.ts";
import type { StackingRules } from "../stacking/stacking-rules.ts";
import { type Belonging, belongingOf } from "./item-scope.ts";

/** A line that an item-level effect reaches, with as many of its units as it reaches. */
export type LinePick = {
  readonly index: number;
  readonly units: bigint;
  /** Which units, counted from 1; the first ones are taken. */
  readonly run: UnitRun;
  /** null without entries, or for what `included_all` adds to them. */
  readonly entry: ScopeEntry | null;
};

/** The units `first`, `first + step`, … of a line, `count` of them. */
export type UnitRun = { readonly first: bigint; readonly step: bigint; readonly count: bigint };

export type Selection = {
  /** In the order in which they are served. */
  readonly picks: readonly LinePick[];
  /** Where each line of the order belongs. */
  readonly belongings: readonly Belonging[];
};

export type SelectionTerms = {
  readonly scope: ItemScope | null;
  /** The order before any redeemable of the request. */
  readonly start: OrderState;
  readonly productsMode: StackingRules["redeemablesProductsApplicationMode"];
  /** What limits on units are multiplied by: the number of bundles, where they count. */
  readonly multiplier: bigint;
  readonly budgetLeft: BudgetLeft;
};

/** What the budgets of the entry leave for a line, when `taken` units of its product are taken. */
export type BudgetLeft = (entry: ScopeEntry, index: number, taken: bigint) => bigint | null;

/**
 * The lines and units that an item-level effect reaches; spec/validation-and-redemption.md §1.7. Lines
 * of entries that take every line are served in the order of the request, before those of entries
 * that sort by price.
 */
export function selectItems(state: OrderState, terms: SelectionTerms): Selection {
  const { scope } = terms;
  const belongings = state.lines.map((line) => belongingOf(line.facts, scope));
  const groups = new Map<ScopeEntry | null, number[]>();
  for (const [index, belonging] of belongings.entries()) {
    const entry = entryOf(belonging);
    if (entry === undefined || isTouched(state, index, terms)) continue;
    const group = groups.get(entry);
    if (group === undefined) groups.set(entry, [index]);
    else group.push(index);
  }
  const every: LinePick[] = [];
  const sorted: LinePick[] = [];
  const taken = new Map<string, bigint>();
  for (const entry of entriesInOrder(scope)) {
    const candidates = groups.get(entry);
    if (candidates === undefined) continue;
    const takesEvery = entry === null || entry.effect === "APPLY_TO_EVERY";
    (takesEvery ? every : sorted).push(
      ...withinLimits(picksOf(entry, candidates, state), { state, terms, taken }),
    );
  }
  return { picks: [...every.toSorted((a, b) => a.index - b.index), ...sorted], belongings };
}

const entriesInOrder = (scope: ItemScope | null): readonly (ScopeEntry | null)[] =>
  scope === null ? [null] : [null, ...scope.included];

function entryOf(belonging: Belonging): ScopeEntry | null | undefined {
  if (belonging.kind === "entry") return belonging.entry;
  return belonging.kind === "all" ? null : undefined;
}

/** In mode ONCE a line that an earlier redeemable of the request discounted or added is left out. */
function isTouched(state: OrderState, index: number, terms: SelectionTerms): boolean {
  if (terms.productsMode === "STACK") return false;
  const before = terms.start.lines[index];
  const line = state.lines[index];
  return (
    before === undefined ||
    line?.discountAmount !== before.discountAmount ||
    line.discountQuantity !== before.discountQuantity ||
    line.quantity !== before.quantity
  );
}

/** What the application rule of one entry picks of its lines. */
function picksOf(
  entry: ScopeEntry | null,
  candidates: readonly number[],
  state: OrderState,
): readonly LinePick[] {
  const lines = candidates.map((index): Candidate => ({ index, line: lineOf(state, index) }));
  if (entry === null) return lines.map(({ index, line }) => wholeLine(index, line, null));
  return applicationOf(entry, inOrderOf(entry, lines));
}

type Candidate = { readonly index: number; readonly line: LineState };

function lineOf(state: OrderState, index: number): LineState {
  const line = state.lines[index];
  if (line === undefined) throw new RangeError(`the order has no line ${index}`);
  return line;
}

/** At the same price the lower subtotal goes first, then the earlier line; without a price last. */
function inOrderOf({ effect }: ScopeEntry, lines: readonly Candidate[]): readonly Candidate[] {
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

/** What stands at the positions that the rule names; the count of units runs on across lines. */
function applicationOf(entry: ScopeEntry, lines: readonly Candidate[]): readonly LinePick[] {
  const takesOne =
    entry.effect === "APPLY_TO_CHEAPEST" || entry.effect === "APPLY_TO_MOST_EXPENSIVE";
  if (entry.target === "ITEM") {
    const chosen = takesOne
      ? lines.slice(0, 1)
      : lines.filter((_, position) => isChosen(BigInt(position), entry));
    return chosen.map(({ index, line }) => wholeLine(index, line, entry));
  }
  if (takesOne) {
    const run = { first: 1n, step: 1n, count: 1n };
    return lines.slice(0, 1).map(({ index }) => ({ index, units: 1n, run, entry }));
  }
  const picks: LinePick[] = [];
  let counted = 0n;
  for (const { index, line } of lines) {
    const run = runWithin(counted, line.quantity, entry);
    if (run.count > 0n) picks.push({ index, units: run.count, run, entry });
    counted += line.quantity;
  }
  return picks;
}

const isChosen = (position: bigint, { skipInitially, repeat }: ScopeEntry): boolean =>
  position >= skipInitially && (position - skipInitially) % repeat === 0n;

/** The chosen ones of `quantity` units after `counted` that came before them. */
function runWithin(
  counted: bigint,
  quantity: bigint,
  { skipInitially, repeat }: ScopeEntry,
): UnitRun {
  const late = atLeastZero(counted - skipInitially);
  // From zero: the first chosen position that is not before `counted`.
  const next = skipInitially + ((late + repeat - 1n) / repeat) * repeat;
  const first = next - counted + 1n;
  const count = first > quantity ? 0n : (quantity - first) / repeat + 1n;
  return { first, step: repeat, count };
}

const wholeLine = (index: number, line: LineState, entry: ScopeEntry | null): LinePick => ({
  index,
  units: line.quantity,
  run: { first: 1n, step: 1n, count: line.quantity },
  entry,
});

type Taking = {
  readonly state: OrderState;
  readonly terms: SelectionTerms;
  /** Units by product, of all entries so far. */
  readonly taken: Map<string, bigint>;
};

/** Of several limits the lowest counts; what it leaves is taken from the first picks on. */
function withinLimits(
  picks: readonly LinePick[],
  { state, terms: { multiplier, budgetLeft }, taken }: Taking,
): readonly LinePick[] {
  const limited: LinePick[] = [];
  let sum = 0n;
  for (const pick of picks) {
    const { entry, index } = pick;
    const product = productOf(lineOf(state, index).facts) ?? "";
    const before = taken.get(product) ?? 0n;
    const units =
      entry === null
        ? pick.units
        : least(
            pick.units,
            times(entry.quantityLimit, multiplier),
            times(entry.aggregatedQuantityLimit, multiplier, sum),
            entry.budgets.length === 0 ? null : budgetLeft(entry, index, before),
          );
    // A line of no units that nothing limits is still the line.
    if (units <= 0n && pick.units > 0n) continue;
    sum += units;
    taken.set(product, before + units);
    limited.push({ ...pick, units });
  }
  return limited;
}

const times = (limit: bigint | null, multiplier: bigint, used = 0n): bigint | null =>
  limit === null ? null : limit * multiplier - used;
