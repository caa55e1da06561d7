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

/** Splits one amount over the lines; the parts add up to it, or to all that the lines can take. */
export function splitAmount(
  served: readonly TargetLine[],
  state: OrderState,
  { amount, effect, mode }: SplitOptions,
): LineDiscount[] {
  const weights = weightsOf(served, effect, mode);
  const entries = entryLimits();
  const parts = served.flatMap((one, at): Part[] => {
    const { entry } = one.selected;
    const cap = smallestOf(selectedShare(subtotalAmount(one.line), one), entries.left(entry));
    const weight = weights[at] ?? 0n;
    if (cap <= 0n || weight <= 0n) return [];
    // A limit on the sum of an entry leaves less room to its later lines.
    entries.take(entry, cap);
    return [{ target: one, cap, weight }];
  });
  const capacity = sumOf(parts, ({ cap }) => cap);
  return allocateWithin(smallestOf(amount, totalAmount(state), capacity), parts);
}

/** All over one denominator, so that a part of a line weighs exactly what it is. */
function weightsOf(
  served: readonly TargetLine[],
  effect: AmountDiscount["effect"],
  mode: CalculationMode,
): readonly bigint[] {
  if (effect === "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY") {
    return served.map(({ selected: pick }) => pick.units);
  }
  const amounts = served.map(({ line }) =>
    mode === "INITIAL_AMOUNT" ? line.amount : subtotalAmount(line),
  );
  const partial = served.filter(({ selected: pick, line }) => pick.units < line.quantity);
  const whole = partial.reduce((common, { line }) => leastCommon(common, line.quantity), 1n);
  return served.map(({ selected: pick, line }, at) => {
    const amount = (amounts[at] ?? 0n) * whole;
    return pick.units < line.quantity ? (amount * pick.units) / line.quantity : amount;
  });
}

const leastCommon = (a: bigint, b: bigint): bigint => (a * b) / greatestCommon(a, b);

const greatestCommon = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestCommon(b, a % b));

type Part = { readonly target: TargetLine; readonly cap: bigint; readonly weight: bigint };

/**
 * Largest remainder under a cap for each part: a share above its cap is fixed there and the rest is
 * split over the others. The part with the least room for its weight overflows first, so one pass
 * in that order finds all that do; once a share fits, those of all later parts fit too. `amount`
 * must not exceed the sum of the caps.
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
    ...[...full].map(({ target: served, cap }) => lineDiscountOf(served, cap)),
    ...open.map(({ target: served }, at) => lineDiscountOf(served, shares[at] ?? 0n)),
  ];
}

const signOf = (difference: bigint): number => (difference === 0n ? 0 : difference < 0n ? -1 : 1);

const lineDiscountOf = (served: TargetLine, amount: bigint): LineDiscount => ({
  index: served.selected.index,
  amount,
  units: discountedUnits(served, amount),
});
