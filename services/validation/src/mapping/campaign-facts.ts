import { discountFromProto, validityFromProto } from "@scrip/mapping";
import type { CampaignDefinition } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import { parseDiscount, type ValidationRule } from "@scrip/rules";

import type { CampaignSnapshot, CategorySnapshot, TierSnapshot } from "../domain/input/facts.ts";

export const campaignFacts = (
  campaign: CampaignDefinition,
  rules: readonly ValidationRule[],
): CampaignSnapshot => ({
  id: campaign.id,
  name: campaign.name,
  active: campaign.active,
  validity: validityFromProto(campaign),
  categories: campaign.categories.map(categoryFacts),
  metadata: campaign.metadata ?? {},
  rules,
});

export const tierFacts = (
  tier: PromotionTier,
  campaign: CampaignSnapshot | null,
  rules: readonly ValidationRule[],
): TierSnapshot => ({
  id: tier.id,
  name: tier.name,
  banner: tier.banner ?? null,
  active: tier.active,
  validity: validityFromProto(tier),
  discount: discountOf(tier),
  campaign,
  categories: tier.categories.map(categoryFacts),
  metadata: tier.metadata ?? {},
  hierarchy: Number(tier.hierarchy),
  rules,
});

export const categoryFacts = ({ id, hierarchy }: Category): CategorySnapshot => ({
  id,
  hierarchy: Number(hierarchy),
});

function discountOf({ id, action }: PromotionTier): TierSnapshot["discount"] {
  const definition = action?.discount && discountFromProto(action.discount);
  if (definition === undefined) return null;
  const parsed = parseDiscount(definition);
  // Discounts are checked before they are stored, so this is a bug.
  if (parsed.kind === "violation") throw new Error(`the discount of ${id}: ${parsed.text}`);
  return parsed.discount;
}
