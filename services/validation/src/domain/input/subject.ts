import type { ValidationRule } from "@scrip/rules";

import type { CampaignFacts, Redeemable, TierFacts, VoucherFacts } from "./facts.ts";

/** The voucher or promotion tier that a redeemable names, once it was found. */
export type Subject =
  | { readonly kind: "voucher"; readonly facts: VoucherFacts }
  | { readonly kind: "promotion_tier"; readonly facts: TierFacts };

export function subjectOf(redeemable: Redeemable): Subject | null {
  if (redeemable.object === "voucher") {
    return redeemable.voucher && { kind: "voucher", facts: redeemable.voucher };
  }
  return redeemable.tier && { kind: "promotion_tier", facts: redeemable.tier };
}

export const campaignOf = ({ facts }: Subject): CampaignFacts | null => facts.campaign;

/** Its own, then those of its campaign. */
export function rulesOf({ facts }: Subject): readonly ValidationRule[] {
  const { rules, campaign } = facts;
  if (campaign === null || campaign.rules.length === 0) return rules;
  return rules.length === 0 ? campaign.rules : [...rules, ...campaign.rules];
}
