import { create } from "@bufbuild/protobuf";
import type { PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import {
  type PromotionTierCampaign,
  type PromotionTierSummary,
  PromotionTierTotalsSchema,
} from "@scrip/proto/scrip/common/v1/promotion_tier_pb";

import type { Promotions } from "./promotions.ts";

/** The promotion tier as stored with a redemption. */
export function tierSummaryToProto(
  tier: PromotionTier,
  { campaigns }: Pick<Promotions, "campaigns">,
): PromotionTierSummary {
  const { action, banner, metadata, startDate, expirationDate } = tier;
  const campaign = tierCampaignToProto(tier, { campaigns });
  const { summary, categoryId, createdAt, updatedAt, validityTimeframe, validityHours } = tier;
  return {
    $typeName: "scrip.common.v1.PromotionTierSummary",
    campaignId: tier.campaignId,
    active: tier.active,
    categories: tier.categories,
    validityDayOfWeek: tier.validityDayOfWeek,
    ...(validityTimeframe !== undefined && { validityTimeframe }),
    ...(validityHours !== undefined && { validityHours }),
    ...(categoryId !== undefined && { categoryId }),
    ...(createdAt !== undefined && { createdAt }),
    ...(updatedAt !== undefined && { updatedAt }),
    ...(summary !== undefined && {
      summary: create(PromotionTierTotalsSchema, {
        redemptions: { totalRedeemed: summary.redemptions?.totalRedeemed ?? 0n },
        orders: {
          totalAmount: summary.orders?.totalAmount ?? 0n,
          totalDiscountAmount: summary.orders?.totalDiscountAmount ?? 0n,
        },
      }),
    }),
    id: tier.id,
    name: tier.name,
    hierarchy: tier.hierarchy,
    ...(banner !== undefined && { banner }),
    ...(action?.discount !== undefined && {
      action: {
        $typeName: "scrip.common.v1.PromotionTierAction" as const,
        discount: action.discount,
      },
    }),
    ...(metadata !== undefined && { metadata }),
    ...(campaign !== undefined && { campaign }),
    ...(startDate !== undefined && { startDate }),
    ...(expirationDate !== undefined && { expirationDate }),
  };
}

export function tierCampaignToProto(
  { campaignId }: PromotionTier,
  { campaigns }: Pick<Promotions, "campaigns">,
): PromotionTierCampaign | undefined {
  const campaign = campaigns.get(campaignId);
  if (campaign === undefined) return undefined;
  const { id, name, active, startDate, expirationDate } = campaign;
  return {
    $typeName: "scrip.common.v1.PromotionTierCampaign",
    id,
    name,
    active,
    ...(startDate !== undefined && { startDate }),
    ...(expirationDate !== undefined && { expirationDate }),
  };
}
