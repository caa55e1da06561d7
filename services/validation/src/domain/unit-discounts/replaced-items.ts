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
import { type UnitGiftItem, addUnits, lineForItem, linesOfItem } from "./free-units.ts";

export type Replacement = {
  readonly replacement: UnitGiftItem;
  /** How many units stand in for one. */
  readonly ratio: bigint;
};

/**
 * Exchanges the units that are picked for others; spec/validation-and-redemption.md §1.9. The buyer
 * never pays more than before: what the new units cost above the old ones is taken off. Tells why it
 * can not be done, or answers null.
 */
export function replaceUnits(
  draft: OrderDraft,
  picks: readonly SelectedLine[],
  { replacement: what, ratio }: Replacement,
): Rejection | null {
  const carriers = linesOfItem(draft, what);
  const [carrier] = carriers;
  const price = carrier === undefined ? (what.item?.price ?? null) : lineAt(draft, carrier).price;
  // Units of no known price cannot be weighed against each other.
  if (price === null) return null;
  const isCarrier = new Set(carriers);
  let target = carrier;
  for (const pick of picks) {
    const source = lineAt(draft, pick.index);
    if (isCarrier.has(pick.index) || source.price === null) continue;
    const cheaper = source.price - ratio * price;
    const units = smallestOf(replaceableUnits(source, pick), affordableUnits(draft, cheaper));
    if (units <= 0n) continue;
    target ??= lineForItem(draft, what);
    addQuantity(draft, pick.index, -units);
    const rejection = addUnits(draft, target, units * ratio);
    if (rejection !== null) return rejection;
    recordExchange(draft, {
      sourceIndex: pick.index,
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

/** Only what is still to be paid of a line can be exchanged, or was not given yet: discounts stay. */
function replaceableUnits(line: LineState, { units }: SelectedLine): bigint {
  const price = line.price ?? 0n;
  const open =
    price > 0n ? subtotalAmount(line) / price : atLeastZero(line.quantity - line.discountQuantity);
  return smallestOf(units, line.quantity, open);
}

/** An order that gets cheaper by each unit must still be worth what was taken off it. */
const affordableUnits = (draft: OrderDraft, cheaper: bigint): bigint | null =>
  cheaper > 0n ? totalAmount(draft) / cheaper : null;

/** Takes off what the new units cost more; both lines tell of the exchange. */
function recordExchange(draft: OrderDraft, application: UnitExchange): void {
  const { sourceIndex, targetIndex, targetAppliedDiscountAmount: amount } = application;
  const units = amount > 0n ? application.targetAppliedQuantity : 0n;
  discountLine(draft, { index: targetIndex, amount, units });
  for (const index of [sourceIndex, targetIndex]) {
    const line = lineAt(draft, index);
    draft.lines[index] = { ...line, exchanges: [...line.exchanges, application] };
  }
}
