import type { UnitDiscount, UnitGrant } from "@scrip/rules";

import type { SelectedLine } from "../applicable-items/item-selection.ts";
import type { AppliedUnitGrant } from "../decision/benefit.ts";
import { type Formulas, toUnits } from "../formulas/formula-values.ts";
import type { CatalogueItem } from "../input/catalogue-item.ts";
import { atLeastZero, smallestOf, sumOf } from "../order/minor-units.ts";
import { type OrderDraft, toDraft, makeUnitsFree, lineAt } from "../order/order-draft.ts";
import { type LineState, type OrderState, subtotalAmount } from "../order/order-state.ts";
import type { Rejection } from "../rejections/rejection.ts";
import { type GrantedItem, addUnits, lineForItem, linesOfItem } from "./free-units.ts";
import { replaceUnits } from "./replaced-items.ts";

export type UnitDiscountContext = {
  /** The lines that the rules of the redeemable select. */
  readonly selectedLines: readonly SelectedLine[];
  readonly formulas: Formulas;
  /** The number of bundles if the rules multiply by it, otherwise one. */
  readonly multiplier: bigint;
  /** By the id or source id in the discount. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

export type UnitDiscountOutcome =
  | {
      readonly kind: "applied";
      readonly state: OrderState;
      readonly grants: readonly AppliedUnitGrant[];
      /** The discount with the values of its formulas in place of the static numbers. */
      readonly value: UnitDiscount;
    }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/** Applies a unit discount element by element. docs/order-calculation.md#free-units */
export function applyUnitDiscount(
  discount: UnitDiscount,
  state: OrderState,
  context: UnitDiscountContext,
): UnitDiscountOutcome {
  const draft = toDraft(state);
  const applied: AppliedUnitGrant[] = [];
  for (const grant of discount.grants) {
    const dynamic = context.formulas(grant.formula)(null);
    const unitOff = dynamic === null ? grant.unitOff : toUnits(dynamic);
    const item = context.catalogue.get(grant.unitType ?? "") ?? null;
    const rejection = applyGrant({ ...grant, unitOff, item }, draft, context);
    if (rejection !== null) return { kind: "rejected", rejection };
    applied.push({ unitOff, isDynamic: dynamic !== null, item });
  }
  const grants = discount.grants.map((grant, at) => ({
    ...grant,
    unitOff: applied[at]?.unitOff ?? grant.unitOff,
  }));
  return { kind: "applied", state: draft, grants: applied, value: { ...discount, grants } };
}

type GrantToApply = UnitGrant & { readonly item: CatalogueItem | null };

/** Returns why it cannot be applied, or null. */
function applyGrant(
  grant: GrantToApply,
  draft: OrderDraft,
  context: UnitDiscountContext,
): Rejection | null {
  const { item, unitType, unitOff } = grant;
  const units = unitOff * context.multiplier;
  const target = { reference: unitType ?? "", item };
  if (unitOff === 0n) return null;
  switch (grant.effect) {
    case "ADD_NEW_ITEMS":
      return addFreeUnits(draft, lineForItem(draft, target), units);
    case "ADD_MISSING_ITEMS":
      return addMissingUnits(draft, target, units);
    case "ADD_SAME_ITEMS":
      return addSameUnits(draft, context.selectedLines, units);
    case "REPLACE_ITEMS":
      // `unit_off` is the ratio of the exchange, which bundles do not multiply; they multiply
      // limits of units.
      return replaceUnits(draft, context.selectedLines, { replacement: target, ratio: unitOff });
    default:
      return grant.effect satisfies never;
  }
}

function addFreeUnits(draft: OrderDraft, index: number, units: bigint): Rejection | null {
  const rejection = addUnits(draft, index, units);
  if (rejection === null) makeUnitsFree(draft, index, units);
  return rejection;
}

/** Units that are already in the order become free as well, from the first line on. */
function addMissingUnits(draft: OrderDraft, target: GrantedItem, units: bigint): Rejection | null {
  const present = sumOf(linesOfItem(draft, target), (index) => lineAt(draft, index).quantity);
  const missing = atLeastZero(units - present);
  const rejection = missing > 0n ? addUnits(draft, lineForItem(draft, target), missing) : null;
  if (rejection !== null) return rejection;
  let remaining = units;
  for (const index of linesOfItem(draft, target)) {
    const free = smallestOf(remaining, payableUnits(lineAt(draft, index)));
    if (free > 0n) makeUnitsFree(draft, index, free);
    remaining -= free;
  }
  return null;
}

/** The units of a line that are not yet free; without a price, those not yet discounted. */
function payableUnits(line: LineState): bigint {
  if (line.price === null || line.price === 0n) {
    return atLeastZero(line.quantity - line.discountQuantity);
  }
  return smallestOf(line.quantity, (subtotalAmount(line) + line.price - 1n) / line.price);
}

/** Adds as many units of each line that the rules select. */
function addSameUnits(
  draft: OrderDraft,
  selectedLines: readonly SelectedLine[],
  units: bigint,
): Rejection | null {
  for (const { index } of selectedLines) {
    const rejection = addFreeUnits(draft, index, units);
    if (rejection !== null) return rejection;
  }
  return null;
}
