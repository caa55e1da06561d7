import { validityFromProto } from "@scrip/mapping";
import type { LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { GiftEffect, type Voucher, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { VoucherSnapshot, VoucherValue } from "../domain/input/voucher.ts";
import { parsedDiscountFromProto } from "./discount.ts";

export function voucherFromProto(loaded: LoadedVoucher): VoucherSnapshot | null {
  const { voucher, definitionVersion, lockedQuantity, lockedCredits, publicationMetadata } = loaded;
  if (voucher === undefined) return null;
  return {
    id: voucher.id,
    code: voucher.code,
    active: voucher.active ?? null,
    validity: validityFromProto(voucher),
    value: valueOf(voucher, lockedCredits),
    quantity: voucher.redemption?.quantity ?? null,
    redeemedQuantity: voucher.redemption?.redeemedQuantity ?? 0n,
    lockedQuantity,
    definitionVersion,
    campaign: null,
    categories: voucher.categoryId === undefined ? [] : [{ id: voucher.categoryId, hierarchy: 0 }],
    metadata: voucher.metadata ?? {},
    publishCount: voucher.publish?.count ?? 0n,
    publicationMetadata: publicationMetadata ?? null,
    rules: [],
    isReferralCode: voucher.isReferralCode ?? false,
    holderId: voucher.holderId ?? null,
  };
}

function valueOf(voucher: Voucher, lockedCredits: bigint): VoucherValue {
  switch (voucher.type) {
    case VoucherType.GIFT_VOUCHER:
      return {
        type: "GIFT_VOUCHER",
        balance: voucher.gift?.balance ?? 0n,
        lockedCredits,
        effect: voucher.gift?.effect === GiftEffect.APPLY_TO_ITEMS ? "APPLY_TO_ITEMS" : null,
      };
    case VoucherType.LOYALTY_CARD:
      // The loyalty service has the actual balance.
      return {
        type: "LOYALTY_CARD",
        balance: voucher.loyaltyCard?.points ?? 0n,
        lockedPoints: 0n,
      };
    default:
      return {
        type: "DISCOUNT_VOUCHER",
        discount: parsedDiscountFromProto(voucher.discount, voucher.id),
      };
  }
}
