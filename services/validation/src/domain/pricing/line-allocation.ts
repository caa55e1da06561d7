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

/** A line of the order that an effect reaches. */
export type TargetLine = { readonly selected: SelectedLine; readonly line: LineState };

export const targetLines = (
  state: OrderState,
  picks: readonly SelectedLine[],
): readonly TargetLine[] =>
  picks.flatMap((pick) => {
    const line = state.lines[pick.index];
    return line === undefined ? [] : [{ selected: pick, line }];
  });

/**
 * Serves the lines in turn, each with what it is worth to the effect, so that limits on sums favour the
 * earlier ones. No line gets more than is left of it, and no order more than is left to pay.
 */
export function allocateToLines(
  served: readonly TargetLine[],
  state: OrderState,
  { limit, valueOf }: { limit: bigint | null; valueOf: (served: TargetLine) => bigint },
): LineDiscount[] {
  let left = smallestOf(totalAmount(state), limit);
  const entries = entryLimits();
  return served.map((one) => {
    const { selected: pick, line } = one;
    const most = smallestOf(subtotalAmount(line), left, entries.left(pick.entry));
    const amount = smallestOf(valueOf(one), most);
    left -= amount;
    entries.take(pick.entry, amount);
    return { index: pick.index, amount, units: discountedUnits(one, amount) };
  });
}

/** What the limits of entries on amounts still allow; one is used up as lines are served. */
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

/** Units that are discounted are only told when they are not the whole line (§1.3). */
export const discountedUnits = ({ selected: pick, line }: TargetLine, amount: bigint): bigint =>
  amount > 0n && pick.units < line.quantity ? pick.units : 0n;

/** The part of an amount that the units of the pick make up, rounded half up once. */
export const selectedShare = (amount: bigint, { selected: pick, line }: TargetLine): bigint =>
  isWholeLine(pick, line) ? amount : roundHalfUp(amount * pick.units, line.quantity);

/** `percent` per cent of that part, rounded once as well. */
export function percentOfSelectedShare(
  amount: bigint,
  percent: Decimal,
  { selected: pick, line }: TargetLine,
): bigint {
  const hundred = 100n * 10n ** BigInt(percent.scale);
  return isWholeLine(pick, line)
    ? roundHalfUp(amount * percent.unscaled, hundred)
    : roundHalfUp(amount * pick.units * percent.unscaled, line.quantity * hundred);
}

const isWholeLine = (pick: SelectedLine, line: LineState): boolean => pick.units >= line.quantity;
