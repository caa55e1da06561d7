import type { ValidationRule } from "@scrip/rules";

import type { CampaignSnapshot, Redeemable, TierSnapshot, VoucherSnapshot } from "./facts.ts";

/** The voucher or promotion tier that a redeemable names, once it was found. */
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

/** Its own, then those of its campaign. */
export function rulesOf({ snapshot: facts }: Subject): readonly ValidationRule[] {
  const { rules, campaign } = facts;
  if (campaign === null || campaign.rules.length === 0) return rules;
  return rules.length === 0 ? campaign.rules : [...rules, ...campaign.rules];
}
