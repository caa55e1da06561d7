import type { SelectedLine } from "../applicable-items/item-selection.ts";
import { atLeastZero, smallestOf } from "../order/minor-units.ts";
import { type OrderDraft, addQuantity, lineAt, discountLine } from "../order/order-draft.ts";
import {
  type UnitExchange,
  type LineState,
  subtotalAmount,
  totalAmount,
} from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type GrantedItem, addUnits, lineForItem, linesOfItem } from "./free-units.ts";

export type Replacement = {
  readonly replacement: GrantedItem;
  /** Units of the replacement for one replaced unit. */
  readonly ratio: bigint;
};

/**
 * Exchanges the selected units for others. The customer never pays more than before: a higher price
 * of the new units is discounted. Returns why it cannot be done, or null.
 * docs/order-calculation.md#replaced-items
 */
export function replaceUnits(
  draft: OrderDraft,
  selected: readonly SelectedLine[],
  { replacement, ratio }: Replacement,
): Rejection | null {
  const existingLines = linesOfItem(draft, replacement);
  const [existing] = existingLines;
  const price =
    existing === undefined ? (replacement.item?.price ?? null) : lineAt(draft, existing).price;
  // Units without a price cannot be exchanged.
  if (price === null) return null;
  const replacementLines = new Set(existingLines);
  let target = existing;
  for (const line of selected) {
    const source = lineAt(draft, line.index);
    if (replacementLines.has(line.index) || source.price === null) continue;
    const cheaper = source.price - ratio * price;
    const units = smallestOf(replaceableUnits(source, line), affordableUnits(draft, cheaper));
    if (units <= 0n) continue;
    target ??= lineForItem(draft, replacement);
    addQuantity(draft, line.index, -units);
    const rejection = addUnits(draft, target, units * ratio);
    if (rejection !== null) return rejection;
    recordExchange(draft, {
      sourceIndex: line.index,
      sourceAppliedQuantity: -units,
      sourceAppliedQuantityAmount: -units * source.price,
      targetIndex: target,
      targetAppliedQuantity: units * ratio,
      targetAppliedQuantityAmount: units * ratio * price,
      targetAppliedDiscountAmount: atLeastZero(-units * cheaper),
    });
  }
  return null;
}

/** Units that are paid for or already free are not exchanged: their discounts stay. */
function replaceableUnits(line: LineState, { units }: SelectedLine): bigint {
  const price = line.price ?? 0n;
  const unpaid =
    price > 0n ? subtotalAmount(line) / price : atLeastZero(line.quantity - line.discountQuantity);
  return smallestOf(units, line.quantity, unpaid);
}

/** The order must stay worth at least its discounts. */
const affordableUnits = (draft: OrderDraft, cheaper: bigint): bigint | null =>
  cheaper > 0n ? totalAmount(draft) / cheaper : null;

/** Discounts the higher price and records the exchange on both lines. */
function recordExchange(draft: OrderDraft, exchange: UnitExchange): void {
  const { sourceIndex, targetIndex, targetAppliedDiscountAmount: amount } = exchange;
  const units = amount > 0n ? exchange.targetAppliedQuantity : 0n;
  discountLine(draft, { index: targetIndex, amount, units });
  for (const index of [sourceIndex, targetIndex]) {
    const line = lineAt(draft, index);
    draft.lines[index] = { ...line, exchanges: [...line.exchanges, exchange] };
  }
}
