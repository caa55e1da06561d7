import type { UnitDiscount, UnitGift } from "@scrip/rules";

import type { LinePick } from "../applicable-items/item-selection.ts";
import type { GivenUnits } from "../decision/decision.ts";
import { type Formulas, unitsIn } from "../formulas/formula-values.ts";
import type { CatalogueItem, Redeemable, VoucherValue } from "../input/facts.ts";
import { subjectOf } from "../input/subject.ts";
import { atLeastZero, least, sumOf } from "../order/minor-units.ts";
import { type OrderDraft, draftOf, freeUnits, lineAt } from "../order/order-draft.ts";
import { type LineState, type OrderState, subtotalAmount } from "../order/order-state.ts";
import type { Refused } from "../rejections/rejection.ts";
import { type GivenItem, addUnits, carrierFor, carriersOf } from "./free-units.ts";
import { replaceUnits } from "./replaced-items.ts";

export type UnitTerms = {
  /** The lines that the rules of the redeemable reach. */
  readonly picks: readonly LinePick[];
  readonly formulas: Formulas;
  /** The number of bundles, where they count; otherwise one. */
  readonly multiplier: bigint;
  /** By the id or source id that a discount names. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

export type UnitsOutcome =
  | {
      readonly kind: "given";
      readonly state: OrderState;
      readonly given: readonly GivenUnits[];
      /** The discount with what formulas gave in place of the static numbers. */
      readonly value: UnitDiscount;
    }
  | { readonly kind: "refused"; readonly refusal: Refused };

/** Gives units away, element by element; spec/validation-and-redemption.md §1.8. */
export function giveUnits(
  discount: UnitDiscount,
  state: OrderState,
  terms: UnitTerms,
): UnitsOutcome {
  const draft = draftOf(state);
  const given: GivenUnits[] = [];
  for (const gift of discount.gifts) {
    const dynamic = terms.formulas(gift.formula)(null);
    const unitOff = dynamic === null ? gift.unitOff : unitsIn(dynamic);
    const item = terms.catalogue.get(gift.unitType ?? "") ?? null;
    const refusal = give({ ...gift, unitOff, item }, draft, terms);
    if (refusal !== null) return { kind: "refused", refusal };
    given.push({ unitOff, isDynamic: dynamic !== null, item });
  }
  const gifts = discount.gifts.map((gift, at) => ({
    ...gift,
    unitOff: given[at]?.unitOff ?? gift.unitOff,
  }));
  return { kind: "given", state: draft, given, value: { ...discount, gifts } };
}

/** The ids that discounts of the redeemables give units of, to look them up before deciding. */
export const neededItems = (redeemables: readonly Redeemable[]): readonly string[] => [
  ...new Set(redeemables.flatMap(itemsOf)),
];

function itemsOf(redeemable: Redeemable): readonly string[] {
  const subject = subjectOf(redeemable);
  if (subject === null) return [];
  const discount =
    subject.kind === "voucher" ? discountIn(subject.facts.value) : subject.facts.discount;
  return discount?.type === "UNIT" ? discount.gifts.flatMap(({ unitType }) => unitType ?? []) : [];
}

const discountIn = (value: VoucherValue) =>
  value.type === "DISCOUNT_VOUCHER" ? value.discount : null;

type Giving = UnitGift & { readonly item: CatalogueItem | null };

/** Tells why it can not be given, or answers null. */
function give(giving: Giving, draft: OrderDraft, terms: UnitTerms): Refused | null {
  const { item, unitType, unitOff } = giving;
  const units = unitOff * terms.multiplier;
  const what = { name: unitType ?? "", item };
  if (unitOff === 0n) return null;
  switch (giving.effect) {
    case "ADD_NEW_ITEMS":
      return addFree(draft, carrierFor(draft, what), units);
    case "ADD_MISSING_ITEMS":
      return addMissing(draft, what, units);
    case "ADD_SAME_ITEMS":
      return addSame(draft, terms.picks, units);
    case "REPLACE_ITEMS":
      // What replaces a unit is a ratio, which bundles do not change; limits on units they do.
      return replaceUnits(draft, terms.picks, { what, ratio: unitOff });
    default:
      return giving.effect satisfies never;
  }
}

function addFree(draft: OrderDraft, index: number, units: bigint): Refused | null {
  const refusal = addUnits(draft, index, units);
  if (refusal === null) freeUnits(draft, index, units);
  return refusal;
}

/** Units that are already in the order become free as well, from the first line on. */
function addMissing(draft: OrderDraft, what: GivenItem, units: bigint): Refused | null {
  const present = sumOf(carriersOf(draft, what), (index) => lineAt(draft, index).quantity);
  const missing = atLeastZero(units - present);
  const refusal = missing > 0n ? addUnits(draft, carrierFor(draft, what), missing) : null;
  if (refusal !== null) return refusal;
  let left = units;
  for (const index of carriersOf(draft, what)) {
    const free = least(left, payableUnits(lineAt(draft, index)));
    if (free > 0n) freeUnits(draft, index, free);
    left -= free;
  }
  return null;
}

/** The units of a line for which anything is left to pay; without a price, those not yet given. */
function payableUnits(line: LineState): bigint {
  if (line.price === null || line.price === 0n) {
    return atLeastZero(line.quantity - line.discountQuantity);
  }
  return least(line.quantity, (subtotalAmount(line) + line.price - 1n) / line.price);
}

/** As many more of each line that the rules reach. */
function addSame(draft: OrderDraft, picks: readonly LinePick[], units: bigint): Refused | null {
  for (const { index } of picks) {
    const refusal = addFree(draft, index, units);
    if (refusal !== null) return refusal;
  }
  return null;
}
