import { type Decimal, roundHalfUp } from "@scrip/money";
import type { ScopeEntry } from "@scrip/rules";

import type { LinePick } from "../applicable-items/item-selection.ts";
import { least } from "../order/minor-units.ts";
import type { LineDiscount } from "../order/order-draft.ts";
import {
  type LineState,
  type OrderState,
  subtotalAmount,
  totalAmount,
} from "../order/order-state.ts";

/** A line of the order that an effect reaches. */
export type Served = { readonly pick: LinePick; readonly line: LineState };

export const servedLines = (state: OrderState, picks: readonly LinePick[]): readonly Served[] =>
  picks.flatMap((pick) => {
    const line = state.lines[pick.index];
    return line === undefined ? [] : [{ pick, line }];
  });

/**
 * Serves the lines in turn, each with what it is worth to the effect, so that limits on sums favour the
 * earlier ones. No line gets more than is left of it, and no order more than is left to pay.
 */
export function serveLines(
  served: readonly Served[],
  state: OrderState,
  { limit, valueOf }: { limit: bigint | null; valueOf: (served: Served) => bigint },
): LineDiscount[] {
  let left = least(totalAmount(state), limit);
  const entries = entryAllowances();
  return served.map((one) => {
    const { pick, line } = one;
    const most = least(subtotalAmount(line), left, entries.left(pick.entry));
    const amount = least(valueOf(one), most);
    left -= amount;
    entries.take(pick.entry, amount);
    return { index: pick.index, amount, units: countedUnits(one, amount) };
  });
}

/** What the limits of entries on amounts still allow; one is used up as lines are served. */
export function entryAllowances() {
  const used = new Map<ScopeEntry, bigint>();
  return {
    left(entry: ScopeEntry | null): bigint | null {
      if (entry === null || entry.aggregatedAmountLimit === null) return entry?.amountLimit ?? null;
      return least(entry.aggregatedAmountLimit - (used.get(entry) ?? 0n), entry.amountLimit);
    },
    take(entry: ScopeEntry | null, amount: bigint): void {
      if (entry !== null) used.set(entry, (used.get(entry) ?? 0n) + amount);
    },
  };
}

/** Units that are discounted are only told when they are not the whole line (§1.3). */
export const countedUnits = ({ pick, line }: Served, amount: bigint): bigint =>
  amount > 0n && pick.units < line.quantity ? pick.units : 0n;

/** The part of an amount that the units of the pick make up, rounded half up once. */
export const shareOf = (amount: bigint, { pick, line }: Served): bigint =>
  isWhole(pick, line) ? amount : roundHalfUp(amount * pick.units, line.quantity);

/** `percent` per cent of that part, rounded once as well. */
export function percentOfShare(amount: bigint, percent: Decimal, { pick, line }: Served): bigint {
  const hundred = 100n * 10n ** BigInt(percent.scale);
  return isWhole(pick, line)
    ? roundHalfUp(amount * percent.unscaled, hundred)
    : roundHalfUp(amount * pick.units * percent.unscaled, line.quantity * hundred);
}

const isWhole = (pick: LinePick, line: LineState): boolean => pick.units >= line.quantity;
