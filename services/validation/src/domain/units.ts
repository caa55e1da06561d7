import type { UnitDiscount, UnitGift } from "@scrip/rules";

import { type Given, type GivenItem, addTo, addUnits, carriersOf } from "./added.ts";
import type { GivenUnits } from "./decision.ts";
import type { CatalogueItem, Redeemable, VoucherValue } from "./facts.ts";
import { type Formulas, unitsIn } from "./formula.ts";
import { atLeastZero, least, sumOf } from "./minor-units.ts";
import { freeUnits, lineAt } from "./order-change.ts";
import { type OrderState, subtotalAmount } from "./order.ts";
import type { Refused } from "./refusal.ts";
import { replaceUnits } from "./replace.ts";
import type { LinePick } from "./selection.ts";
import { subjectOf } from "./subject.ts";

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
  let after = state;
  const given: GivenUnits[] = [];
  for (const gift of discount.gifts) {
    const dynamic = terms.formulas(gift.formula)(null);
    const unitOff = dynamic === null ? gift.unitOff : unitsIn(dynamic);
    const item = terms.catalogue.get(gift.unitType ?? "") ?? null;
    const outcome = give({ ...gift, unitOff, item }, after, terms);
    if (outcome.kind === "refused") return outcome;
    after = outcome.state;
    given.push({ unitOff, isDynamic: dynamic !== null, item });
  }
  const gifts = discount.gifts.map((gift, at) => ({
    ...gift,
    unitOff: given[at]?.unitOff ?? gift.unitOff,
  }));
  return { kind: "given", state: after, given, value: { ...discount, gifts } };
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

function give(giving: Giving, state: OrderState, terms: UnitTerms): Given {
  const { item, unitType, unitOff } = giving;
  const units = unitOff * terms.multiplier;
  const what = { name: unitType ?? "", item };
  switch (giving.effect) {
    case "ADD_NEW_ITEMS":
      return units === 0n ? { kind: "given", state } : addNew(state, what, units);
    case "ADD_MISSING_ITEMS":
      return addMissing(state, what, units);
    case "ADD_SAME_ITEMS":
      return units === 0n ? { kind: "given", state } : addSame(state, terms.picks, units);
    case "REPLACE_ITEMS":
      // What replaces a unit is a ratio, which bundles do not change; limits on units they do.
      return replaceUnits(state, terms.picks, { what, ratio: unitOff });
    default:
      return giving.effect satisfies never;
  }
}

function addNew(state: OrderState, what: GivenItem, units: bigint): Given {
  const addition = addUnits(state, what, units);
  if (addition.kind === "refused") return addition;
  return { kind: "given", state: freeUnits(addition.state, addition.index, units) };
}

/** Units that are already in the order become free as well, from the first line on. */
function addMissing(state: OrderState, what: GivenItem, units: bigint): Given {
  const present = sumOf(carriersOf(state, what), (index) => lineAt(state, index).quantity);
  const missing = atLeastZero(units - present);
  let after = state;
  if (missing > 0n) {
    const addition = addUnits(state, what, missing);
    if (addition.kind === "refused") return addition;
    after = addition.state;
  }
  let left = units;
  for (const index of carriersOf(after, what)) {
    const free = least(left, payableUnits(after, index));
    if (free > 0n) after = freeUnits(after, index, free);
    left -= free;
  }
  return { kind: "given", state: after };
}

/** The units of a line for which anything is left to pay; without a price, those not yet given. */
function payableUnits(state: OrderState, index: number): bigint {
  const line = lineAt(state, index);
  if (line.price === null || line.price === 0n) {
    return atLeastZero(line.quantity - line.discountQuantity);
  }
  const left = subtotalAmount(line);
  return least(line.quantity, (left + line.price - 1n) / line.price);
}

/** As many more of each line that the rules reach. */
function addSame(state: OrderState, picks: readonly LinePick[], units: bigint): Given {
  let after = state;
  for (const { index } of picks) {
    const addition = addTo(after, index, units);
    if (addition.kind === "refused") return addition;
    after = freeUnits(addition.state, index, units);
  }
  return { kind: "given", state: after };
}
