import type { Discount, Formula, ValidationRule } from "@scrip/rules";

import type { Redeemable } from "./redeemable.ts";
import type { CampaignSnapshot, TierSnapshot, VoucherSnapshot } from "./voucher.ts";

/** The voucher or promotion tier of a redeemable that exists. */
export type Subject =
  | { readonly kind: "voucher"; readonly snapshot: VoucherSnapshot }
  | { readonly kind: "promotion_tier"; readonly snapshot: TierSnapshot };

export function subjectOf(redeemable: Redeemable): Subject | null {
  if (redeemable.object === "voucher") {
    return redeemable.voucher && { kind: "voucher", snapshot: redeemable.voucher };
  }
  return redeemable.tier && { kind: "promotion_tier", snapshot: redeemable.tier };
}

export const campaignOf = ({ snapshot }: Subject): CampaignSnapshot | null => snapshot.campaign;

/** The rules of the subject itself, then those of its campaign. */
export function rulesOf({ snapshot }: Subject): readonly ValidationRule[] {
  const { rules, campaign } = snapshot;
  if (campaign === null || campaign.rules.length === 0) return rules;
  return rules.length === 0 ? campaign.rules : [...rules, ...campaign.rules];
}

/** null for gift cards, loyalty cards and subjects without a discount. */
export function discountOf(subject: Subject): Discount | null {
  if (subject.kind === "promotion_tier") return subject.snapshot.discount;
  const { value } = subject.snapshot;
  return value.type === "DISCOUNT_VOUCHER" ? value.discount : null;
}

export function formulasOfDiscount(discount: Discount | null): readonly Formula[] {
  if (discount === null) return [];
  const formulas =
    discount.type === "UNIT" ? discount.grants.map(({ formula }) => formula) : [discount.formula];
  return formulas.filter((formula) => formula !== null);
}
