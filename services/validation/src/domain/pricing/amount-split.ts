import { allocate } from "@scrip/money";
import type { AmountDiscount } from "@scrip/rules";

import { smallestOf, sumOf } from "../order/minor-units.ts";
import type { LineDiscount } from "../order/order-draft.ts";
import { type OrderState, subtotalAmount, totalAmount } from "../order/order-state.ts";
import type { CalculationMode } from "../stacking/stacking-rules.ts";
import { type TargetLine, discountedUnits, entryLimits, selectedShare } from "./line-allocation.ts";

export type SplitOptions = {
  readonly amount: bigint;
  readonly effect: AmountDiscount["effect"];
  readonly mode: CalculationMode;
};

/**
 * Splits one amount over lines; the parts add up to it, or to the maximum of all lines.
 * docs/order-calculation.md#effects
 */
export function splitAmount(
  targets: readonly TargetLine[],
  state: OrderState,
  { amount, effect, mode }: SplitOptions,
): LineDiscount[] {
  const weights = weightsOf(targets, effect, mode);
  const entries = entryLimits();
  const parts = targets.flatMap((one, at): Part[] => {
    const { entry } = one.selected;
    const cap = smallestOf(selectedShare(subtotalAmount(one.line), one), entries.left(entry));
    const weight = weights[at] ?? 0n;
    if (cap <= 0n || weight <= 0n) return [];
    // An aggregated limit of the entry leaves less to its later lines.
    entries.take(entry, cap);
    return [{ target: one, cap, weight }];
  });
  const capacity = sumOf(parts, ({ cap }) => cap);
  return allocateWithin(smallestOf(amount, totalAmount(state), capacity), parts);
}

/** Weights have one common denominator, so that a part of a line has its exact weight. */
function weightsOf(
  targets: readonly TargetLine[],
  effect: AmountDiscount["effect"],
  mode: CalculationMode,
): readonly bigint[] {
  if (effect === "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY") {
    return targets.map(({ selected }) => selected.units);
  }
  const amounts = targets.map(({ line }) =>
    mode === "INITIAL_AMOUNT" ? line.amount : subtotalAmount(line),
  );
  const partial = targets.filter(({ selected, line }) => selected.units < line.quantity);
  const whole = partial.reduce(
    (common, { line }) => leastCommonMultiple(common, line.quantity),
    1n,
  );
  return targets.map(({ selected, line }, at) => {
    const amount = (amounts[at] ?? 0n) * whole;
    return selected.units < line.quantity ? (amount * selected.units) / line.quantity : amount;
  });
}

const leastCommonMultiple = (a: bigint, b: bigint): bigint => (a * b) / greatestCommonDivisor(a, b);

const greatestCommonDivisor = (a: bigint, b: bigint): bigint =>
  b === 0n ? a : greatestCommonDivisor(b, a % b);

type Part = { readonly target: TargetLine; readonly cap: bigint; readonly weight: bigint };

/**
 * Largest remainder with a cap per part: a share above its cap is fixed at the cap, and the rest is
 * split over the others. The part with the lowest cap for its weight overflows first, so one pass
 * in that order finds all of them; once a share fits, all later ones fit. `amount` must not exceed
 * the sum of the caps. docs/order-calculation.md#rounding
 */
function allocateWithin(amount: bigint, parts: readonly Part[]): LineDiscount[] {
  const tightestFirst = parts.toSorted((a, b) => signOf(a.cap * b.weight - b.cap * a.weight));
  const full = new Set<Part>();
  let left = amount;
  let weight = sumOf(parts, (part) => part.weight);
  for (const part of tightestFirst) {
    if (left * part.weight <= part.cap * weight) break;
    full.add(part);
    left -= part.cap;
    weight -= part.weight;
  }
  const open = parts
    .filter((part) => !full.has(part))
    .toSorted((a, b) => a.target.selected.index - b.target.selected.index);
  const shares = allocate(
    left,
    open.map((part) => part.weight),
  );
  return [
    ...[...full].map(({ target, cap }) => lineDiscountOf(target, cap)),
    ...open.map(({ target }, at) => lineDiscountOf(target, shares[at] ?? 0n)),
  ];
}

const signOf = (difference: bigint): number => (difference === 0n ? 0 : difference < 0n ? -1 : 1);

const lineDiscountOf = (targets: TargetLine, amount: bigint): LineDiscount => ({
  index: targets.selected.index,
  amount,
  units: discountedUnits(targets, amount),
});
