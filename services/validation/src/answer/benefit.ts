import { decimalText, roundDecimal } from "@scrip/money";
import { type Discount, DiscountEffect } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { GiftResult } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Discount as DomainDiscount } from "@scrip/rules";

import type { Benefit } from "../domain/decision.ts";

/** The discount of a voucher or tier with the effect and the value that were really used. */
export function discountResult(
  discount: Discount | undefined,
  benefit: Benefit,
): Discount | undefined {
  if (benefit.kind !== "discount" || discount === undefined) return undefined;
  return {
    ...discount,
    ...(benefit.value !== null && valueOf(benefit.value)),
    isDynamic: benefit.isDynamic,
    ...(benefit.effect !== null && { effect: DiscountEffect[benefit.effect] }),
  };
}

/** As long as a percentage may be in the API; the discount was calculated with all its digits. */
const SHOWN_DIGITS = 12;

function valueOf(discount: DomainDiscount): Partial<Discount> {
  switch (discount.type) {
    case "PERCENT": {
      const rounded = roundDecimal(discount.percentOff, SHOWN_DIGITS, "HALF_UP");
      return { percentOff: decimalText(rounded ?? discount.percentOff) };
    }
    case "AMOUNT":
      return { amountOff: discount.amountOff };
    case "FIXED":
      return { fixedAmount: discount.fixedAmount };
    case "UNIT":
      return {};
    default:
      return discount satisfies never;
  }
}

export function giftResult(benefit: Benefit): GiftResult | undefined {
  if (benefit.kind !== "gift") return undefined;
  return {
    $typeName: "scrip.validation.v1.GiftResult",
    balance: benefit.balance,
    credits: benefit.credits,
    lockedCredits: benefit.lockedCredits,
  };
}
