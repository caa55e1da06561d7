import type { UnitDiscount, UnitGift } from "@scrip/rules";

import type { SelectedLine } from "../applicable-items/item-selection.ts";
import type { AppliedUnitGift } from "../decision/benefit.ts";
import { type Formulas, toUnits } from "../formulas/formula-values.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import { atLeastZero, smallestOf, sumOf } from "../order/minor-units.ts";
import { type OrderDraft, toDraft, makeUnitsFree, lineAt } from "../order/order-draft.ts";
import { type LineState, type OrderState, subtotalAmount } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type UnitGiftItem, addUnits, lineForItem, linesOfItem } from "./free-units.ts";
import { replaceUnits } from "./replaced-items.ts";

export type UnitDiscountContext = {
  /** The lines that the rules of the redeemable reach. */
  readonly picks: readonly SelectedLine[];
  readonly formulas: Formulas;
  /** The number of bundles, where they count; otherwise one. */
  readonly multiplier: bigint;
  /** By the id or source id that a discount names. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

export type UnitDiscountOutcome =
  | {
      readonly kind: "given";
      readonly state: OrderState;
      readonly given: readonly AppliedUnitGift[];
      /** The discount with what formulas gave in place of the static numbers. */
      readonly value: UnitDiscount;
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/** Gives units away, element by element; spec/validation-and-redemption.md §1.8. */
export function applyUnitDiscount(
  discount: UnitDiscount,
  state: OrderState,
  terms: UnitDiscountContext,
): UnitDiscountOutcome {
  const draft = toDraft(state);
  const given: AppliedUnitGift[] = [];
  for (const gift of discount.gifts) {
    const dynamic = terms.formulas(gift.formula)(null);
    const unitOff = dynamic === null ? gift.unitOff : toUnits(dynamic);
    const item = terms.catalogue.get(gift.unitType ?? "") ?? null;
    const rejection = applyGift({ ...gift, unitOff, item }, draft, terms);
    if (rejection !== null) return { kind: "rejected", rejection };
    given.push({ unitOff, isDynamic: dynamic !== null, item });
  }
  const gifts = discount.gifts.map((gift, at) => ({
    ...gift,
    unitOff: given[at]?.unitOff ?? gift.unitOff,
  }));
  return { kind: "given", state: draft, given, value: { ...discount, gifts } };
}

type GiftToApply = UnitGift & { readonly item: CatalogueItem | null };

/** Tells why it can not be given, or answers null. */
function applyGift(
  giving: GiftToApply,
  draft: OrderDraft,
  terms: UnitDiscountContext,
): Rejection | null {
  const { item, unitType, unitOff } = giving;
  const units = unitOff * terms.multiplier;
  const what = { reference: unitType ?? "", item };
  if (unitOff === 0n) return null;
  switch (giving.effect) {
    case "ADD_NEW_ITEMS":
      return addFreeUnits(draft, lineForItem(draft, what), units);
    case "ADD_MISSING_ITEMS":
      return addMissingUnits(draft, what, units);
    case "ADD_SAME_ITEMS":
      return addSameUnits(draft, terms.picks, units);
    case "REPLACE_ITEMS":
      // What replaces a unit is a ratio, which bundles do not change; limits on units they do.
      return replaceUnits(draft, terms.picks, { replacement: what, ratio: unitOff });
    default:
      return giving.effect satisfies never;
  }
}

function addFreeUnits(draft: OrderDraft, index: number, units: bigint): Rejection | null {
  const rejection = addUnits(draft, index, units);
  if (rejection === null) makeUnitsFree(draft, index, units);
  return rejection;
}

/** Units that are already in the order become free as well, from the first line on. */
function addMissingUnits(draft: OrderDraft, what: UnitGiftItem, units: bigint): Rejection | null {
  const present = sumOf(linesOfItem(draft, what), (index) => lineAt(draft, index).quantity);
  const missing = atLeastZero(units - present);
  const rejection = missing > 0n ? addUnits(draft, lineForItem(draft, what), missing) : null;
  if (rejection !== null) return rejection;
  let left = units;
  for (const index of linesOfItem(draft, what)) {
    const free = smallestOf(left, payableUnits(lineAt(draft, index)));
    if (free > 0n) makeUnitsFree(draft, index, free);
    left -= free;
  }
  return null;
}

/** The units of a line for which anything is left to pay; without a price, those not yet given. */
function payableUnits(line: LineState): bigint {
  if (line.price === null || line.price === 0n) {
    return atLeastZero(line.quantity - line.discountQuantity);
  }
  return smallestOf(line.quantity, (subtotalAmount(line) + line.price - 1n) / line.price);
}

/** As many more of each line that the rules reach. */
function addSameUnits(
  draft: OrderDraft,
  picks: readonly SelectedLine[],
  units: bigint,
): Rejection | null {
  for (const { index } of picks) {
    const rejection = addFreeUnits(draft, index, units);
    if (rejection !== null) return rejection;
  }
  return null;
}
