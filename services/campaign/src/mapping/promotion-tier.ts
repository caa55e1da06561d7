import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  instantToProto,
  discountToProto,
  optionalInstantToProto,
  validityToProto,
} from "@scrip/mapping";
import {
  type PromotionTier,
  PromotionTierSchema,
  type TierSummary,
  TierSummarySchema,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ValidationRulesAssignmentListSchema } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";

import type { TierUsage } from "../store/promotion-tier-usage.ts";
import type { TierRecord } from "../store/promotion-tiers.ts";
import { categoryToProto } from "./category.ts";

export const tierToProto = (record: TierRecord): PromotionTier => ({
  ...tierDefinitionToProto(record),
  summary: tierSummaryToProto(record.usage),
});

export const tierSummaryToProto = (usage: TierUsage): TierSummary =>
  create(TierSummarySchema, {
    redemptions: { totalRedeemed: nonNegative(usage.redemptions) },
    orders: {
      totalAmount: nonNegative(usage.ordersAmount),
      totalDiscountAmount: nonNegative(usage.discountedAmount),
    },
  });

/** Client-side callers see no summary and no rule assignments. */
export const clientSideTierToProto = (record: TierRecord): PromotionTier => ({
  ...tierDefinitionToProto(record),
  validationRulesAssignments: create(ValidationRulesAssignmentListSchema),
  validationRuleAssignments: create(ValidationRulesAssignmentListSchema),
});

/** A rollback can be counted before its redemption. */
const nonNegative = (sum: bigint): bigint => (sum < 0n ? 0n : sum);

/** The cached part of a tier: without its summary. */
export const tierDefinitionToProto = ({ tier, campaign, category }: TierRecord): PromotionTier =>
  create(PromotionTierSchema, {
    id: tier.id,
    name: tier.name,
    banner: tier.banner ?? undefined,
    action: { discount: discountToProto(tier.discount) },
    hierarchy: tier.hierarchy,
    campaignId: campaign.id,
    campaign: {
      id: campaign.id,
      active: campaign.active,
      startDate: optionalInstantToProto(campaign.startDate),
      expirationDate: optionalInstantToProto(campaign.expirationDate),
    },
    active: tier.active,
    ...validityToProto(tier.validity),
    categoryId: category?.id,
    categories: category === null ? [] : [categoryToProto(category)],
    metadata: tier.metadata as JsonObject,
    createdAt: instantToProto(tier.createdAt),
    updatedAt: optionalInstantToProto(tier.updatedAt),
  });
