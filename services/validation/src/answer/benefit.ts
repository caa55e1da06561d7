import { type Discount, DiscountEffect } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { GiftResult } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { Benefit } from "../domain/decision.ts";

/** The voucher's discount with the effect that was really used. */
export function discountResult(voucher: Voucher, benefit: Benefit): Discount | undefined {
  if (benefit.kind !== "discount" || voucher.discount === undefined) return undefined;
  return {
    ...voucher.discount,
    isDynamic: benefit.isDynamic,
    ...(benefit.effect !== null && { effect: DiscountEffect[benefit.effect] }),
  };
}

export function giftResult(benefit: Benefit): GiftResult | undefined {
  if (benefit.kind !== "gift") return undefined;
  return {
    $typeName: "scrip.validation.v1.GiftResult",
    balance: benefit.balance,
    credits: benefit.credits,
  };
}
