import { validityFromProto } from "@scrip/mapping";
import type { CampaignDefinition } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { ValidationRule } from "@scrip/rules";

import type { CampaignSnapshot, CategorySnapshot, TierSnapshot } from "../domain/input/voucher.ts";
import { parsedDiscountFromProto } from "./discount.ts";

export const campaignFromProto = (
  campaign: CampaignDefinition,
  rules: readonly ValidationRule[],
): CampaignSnapshot => ({
  id: campaign.id,
  name: campaign.name,
  active: campaign.active,
  validity: validityFromProto(campaign),
  categories: campaign.categories.map(categoryFromProto),
  metadata: campaign.metadata ?? {},
  rules,
});

export const promotionTierFromProto = (
  tier: PromotionTier,
  campaign: CampaignSnapshot | null,
  rules: readonly ValidationRule[],
): TierSnapshot => ({
  id: tier.id,
  name: tier.name,
  banner: tier.banner ?? null,
  active: tier.active,
  validity: validityFromProto(tier),
  discount: parsedDiscountFromProto(tier.action?.discount, tier.id),
  campaign,
  categories: tier.categories.map(categoryFromProto),
  metadata: tier.metadata ?? {},
  hierarchy: Number(tier.hierarchy),
  rules,
});

export const categoryFromProto = ({ id, hierarchy }: Category): CategorySnapshot => ({
  id,
  hierarchy: Number(hierarchy),
});
