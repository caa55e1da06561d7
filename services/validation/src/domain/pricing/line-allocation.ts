import { type Decimal, roundHalfUp } from "@scrip/money";
import type { ScopeEntry } from "@scrip/rules";

import type { SelectedLine } from "../applicable-items/item-selection.ts";
import { smallestOf } from "../order/minor-units.ts";
import type { LineDiscount } from "../order/order-draft.ts";
import {
  type LineState,
  type OrderState,
  subtotalAmount,
  totalAmount,
} from "../order/order-state.ts";

/** A line of an item-level effect. */
export type TargetLine = { readonly selected: SelectedLine; readonly line: LineState };

export const targetLines = (
  state: OrderState,
  selectedLines: readonly SelectedLine[],
): readonly TargetLine[] =>
  selectedLines.flatMap((selected) => {
    const line = state.lines[selected.index];
    return line === undefined ? [] : [{ selected, line }];
  });

/**
 * Allocates a discount line by line, so that limits of sums favour earlier lines. No line and no
 * order gets more than is left to pay. docs/order-calculation.md#effects
 */
export function allocateToLines(
  targets: readonly TargetLine[],
  state: OrderState,
  { limit, valueOf }: { limit: bigint | null; valueOf: (targets: TargetLine) => bigint },
): LineDiscount[] {
  let left = smallestOf(totalAmount(state), limit);
  const entries = entryLimits();
  return targets.map((one) => {
    const { selected, line } = one;
    const max = smallestOf(subtotalAmount(line), left, entries.left(selected.entry));
    const amount = smallestOf(valueOf(one), max);
    left -= amount;
    entries.take(selected.entry, amount);
    return { index: selected.index, amount, units: discountedUnits(one, amount) };
  });
}

/** The remaining amounts of the limits of entries; they shrink as lines are discounted. */
export function entryLimits() {
  const used = new Map<ScopeEntry, bigint>();
  return {
    left(entry: ScopeEntry | null): bigint | null {
      if (entry === null || entry.aggregatedAmountLimit === null) return entry?.amountLimit ?? null;
      return smallestOf(entry.aggregatedAmountLimit - (used.get(entry) ?? 0n), entry.amountLimit);
    },
    take(entry: ScopeEntry | null, amount: bigint): void {
      if (entry !== null) used.set(entry, (used.get(entry) ?? 0n) + amount);
    },
  };
}

/**
 * Discounted units are counted only if they are a part of the line.
 * docs/order-calculation.md#figures-in-responses
 */
export const discountedUnits = ({ selected, line }: TargetLine, amount: bigint): bigint =>
  amount > 0n && selected.units < line.quantity ? selected.units : 0n;

/**
 * The part of an amount that belongs to the selected units, rounded half up once.
 * docs/order-calculation.md#rounding
 */
export const selectedShare = (amount: bigint, { selected, line }: TargetLine): bigint =>
  isWholeLine(selected, line) ? amount : roundHalfUp(amount * selected.units, line.quantity);

/** `percent` per cent of that part, rounded once. */
export function percentOfSelectedShare(
  amount: bigint,
  percent: Decimal,
  { selected, line }: TargetLine,
): bigint {
  const hundred = 100n * 10n ** BigInt(percent.scale);
  return isWholeLine(selected, line)
    ? roundHalfUp(amount * percent.unscaled, hundred)
    : roundHalfUp(amount * selected.units * percent.unscaled, line.quantity * hundred);
}

const isWholeLine = (selected: SelectedLine, line: LineState): boolean =>
  selected.units >= line.quantity;
