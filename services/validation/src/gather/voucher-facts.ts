import {
  type Discount,
  DiscountEffect,
  DiscountType,
} from "@scrip/proto/scrip/common/v1/discount_pb";
import type { GatheredVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { GiftEffect, type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type DiscountDefinition, parseDiscount, type Validity } from "@scrip/rules";

import type { VoucherFacts, VoucherValue } from "../domain/facts.ts";
import { fromTimestamp } from "./timestamps.ts";

/** What a decision needs to know of a voucher as the voucher service answered it. */
export function voucherFacts(gathered: GatheredVoucher): VoucherFacts | null {
  const { voucher, definitionVersion } = gathered;
  if (voucher === undefined) return null;
  return {
    id: voucher.id,
    code: voucher.code,
    active: voucher.active ?? null,
    validity: validityOf(voucher),
    value: valueOf(voucher),
    quantity: voucher.redemption?.quantity ?? null,
    redeemedQuantity: voucher.redemption?.redeemedQuantity ?? 0n,
    lockedQuantity: 0n,
    definitionVersion,
    campaign: null,
    categories: voucher.categoryId === undefined ? [] : [{ id: voucher.categoryId, hierarchy: 0 }],
    metadata: voucher.metadata ?? {},
    publishCount: voucher.publish?.count ?? 0n,
  };
}

function validityOf(voucher: Voucher): Validity {
  const { startDate, expirationDate, validityTimeframe, validityDayOfWeek } = voucher;
  return {
    startDate: startDate === undefined ? null : fromTimestamp(startDate),
    expirationDate: expirationDate === undefined ? null : fromTimestamp(expirationDate),
    timeframe: validityTimeframe ?? null,
    daysOfWeek: validityDayOfWeek.length === 0 ? null : validityDayOfWeek,
    hours: voucher.validityHours ?? null,
  };
}

function valueOf(voucher: Voucher): VoucherValue {
  switch (voucher.type) {
    case VoucherType.GIFT_VOUCHER:
      return {
        type: "GIFT_VOUCHER",
        balance: voucher.gift?.balance ?? 0n,
        lockedCredits: 0n,
        effect: voucher.gift?.effect === GiftEffect.APPLY_TO_ITEMS ? "APPLY_TO_ITEMS" : null,
      };
    case VoucherType.LOYALTY_CARD:
      return { type: "LOYALTY_CARD", balance: voucher.loyaltyCard?.balance ?? 0n };
    default:
      return { type: "DISCOUNT_VOUCHER", discount: discountOf(voucher) };
  }
}

function discountOf({ id, discount }: Voucher) {
  if (discount === undefined) return null;
  const parsed = parseDiscount(definitionOf(discount));
  // Vouchers are refused when stored unless their discount parses, so this is a bug, not an input.
  if (parsed.kind === "violation") throw new Error(`the discount of ${id}: ${parsed.text}`);
  return parsed.discount;
}

// A number that this version does not know reads as unspecified.
const TYPES: Readonly<Record<number, DiscountDefinition["type"]>> = {
  [DiscountType.PERCENT]: "PERCENT",
  [DiscountType.AMOUNT]: "AMOUNT",
  [DiscountType.UNIT]: "UNIT",
  [DiscountType.FIXED]: "FIXED",
};

function definitionOf(discount: Discount): DiscountDefinition {
  const type = TYPES[discount.type];
  if (type === undefined) throw new Error(`a discount of unknown type ${discount.type}`);
  return {
    type,
    effect: effectOf(discount.effect),
    percentOff: discount.percentOff ?? null,
    percentOffFormula: discount.percentOffFormula ?? null,
    amountOff: discount.amountOff ?? null,
    amountOffFormula: discount.amountOffFormula ?? null,
    fixedAmount: discount.fixedAmount ?? null,
    fixedAmountFormula: discount.fixedAmountFormula ?? null,
    amountLimit: discount.amountLimit ?? null,
    aggregatedAmountLimit: discount.aggregatedAmountLimit ?? null,
  };
}

type EffectName = NonNullable<DiscountDefinition["effect"]>;

/** The names of the wire are those of the specification. */
function effectOf(effect: DiscountEffect | undefined): EffectName | null {
  return effect === undefined ? null : (EFFECTS[effect] ?? null);
}

const EFFECTS: Readonly<Record<number, EffectName>> = {
  [DiscountEffect.APPLY_TO_ORDER]: "APPLY_TO_ORDER",
  [DiscountEffect.APPLY_TO_ITEMS]: "APPLY_TO_ITEMS",
  [DiscountEffect.APPLY_TO_ITEMS_BY_QUANTITY]: "APPLY_TO_ITEMS_BY_QUANTITY",
  [DiscountEffect.APPLY_TO_ITEMS_PROPORTIONALLY]: "APPLY_TO_ITEMS_PROPORTIONALLY",
  [DiscountEffect.APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY]:
    "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
  [DiscountEffect.ADD_NEW_ITEMS]: "ADD_NEW_ITEMS",
  [DiscountEffect.ADD_MISSING_ITEMS]: "ADD_MISSING_ITEMS",
  [DiscountEffect.ADD_MANY_ITEMS]: "ADD_MANY_ITEMS",
  [DiscountEffect.ADD_SAME_ITEMS]: "ADD_SAME_ITEMS",
  [DiscountEffect.REPLACE_ITEMS]: "REPLACE_ITEMS",
};
