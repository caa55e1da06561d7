import { decimalText, roundDecimal } from "@scrip/money";
import { type Discount, DiscountEffect } from "@scrip/proto/scrip/common/v1/discount_pb";
import type { LoadedCard } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Reward } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { GiftResult } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Discount as DomainDiscount } from "@scrip/rules";

import type { Benefit, AppliedUnitGrant } from "../domain/decision/benefit.ts";
import { productSummariesToProto } from "./product-summaries.ts";

/** The discount with the effect and value that were applied. */
export function discountResultToProto(
  discount: Discount | undefined,
  benefit: Benefit,
): Discount | undefined {
  if (benefit.kind !== "discount" || discount === undefined) return undefined;
  return {
    ...discount,
    ...(benefit.value !== null && valueOf(benefit.value)),
    isDynamic: benefit.isDynamic,
    ...grantedUnits(discount, benefit.grants),
    ...(benefit.effect !== null && { effect: DiscountEffect[benefit.effect] }),
  };
}

/** The granted units, element by element of the definition. */
function grantedUnits({ units }: Discount, grants: readonly AppliedUnitGrant[]): Partial<Discount> {
  if (units.length > 0) {
    return {
      units: units.map((unit, at) => {
        const one = grants[at];
        return one === undefined
          ? unit
          : {
              ...unit,
              ...(one.item !== null && productSummariesToProto(one.item)),
              unitOff: one.unitOff,
              isDynamic: one.isDynamic,
            };
      }),
    };
  }
  const [one] = grants;
  return one === undefined
    ? {}
    : { ...(one.item !== null && productSummariesToProto(one.item)), unitOff: one.unitOff };
}

/** Maximum number of digits of a percentage in the API; calculations use all digits. */
const DISPLAYED_DIGITS = 12;

function valueOf(discount: DomainDiscount): Partial<Discount> {
  switch (discount.type) {
    case "PERCENT": {
      const rounded = roundDecimal(discount.percentOff, DISPLAYED_DIGITS, "HALF_UP");
      return { percentOff: decimalText(rounded ?? discount.percentOff) };
    }
    case "AMOUNT":
      return { amountOff: discount.amountOff };
    case "FIXED":
      return discount.fixedAmount === null ? {} : { fixedAmount: discount.fixedAmount };
    case "UNIT":
      // Included with its product and SKU.
      return {};
    default:
      return discount satisfies never;
  }
}

/** Reward and price in points; undefined for other vouchers. */
export function loyaltyResultOf(
  benefit: Benefit,
  card: LoadedCard | undefined,
): { readonly points: bigint; readonly reward: Reward | undefined } | undefined {
  if (benefit.kind !== "loyalty") return undefined;
  return { points: benefit.points, reward: card?.reward };
}

export function giftResultToProto(benefit: Benefit): GiftResult | undefined {
  if (benefit.kind !== "gift") return undefined;
  return {
    $typeName: "scrip.validation.v1.GiftResult",
    balance: benefit.balance,
    credits: benefit.credits,
    lockedCredits: benefit.lockedCredits,
  };
}
