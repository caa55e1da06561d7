import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  instantToProto,
  discountToProto,
  optionalInstantToProto,
  validityToProto,
} from "@scrip/mapping";
import {
  type PromotionStack as StackMessage,
  PromotionStackSchema,
  type PromotionTier as TierMessage,
  PromotionTierSchema,
  TierSummarySchema,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ValidationRulesAssignmentListSchema } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";

import type { StackRecord } from "../store/promotion-stacks.ts";
import type { TierRecord } from "../store/promotion-tiers.ts";
import { toProto } from "./category.ts";

/** A tier as it is answered. */
export function toTier(record: TierRecord): TierMessage {
  const { redemptions, ordersAmount, discountedAmount } = record.usage;
  return {
    ...toTierDefinition(record),
    summary: create(TierSummarySchema, {
      redemptions: { totalRedeemed: atLeastNone(redemptions) },
      orders: {
        totalAmount: atLeastNone(ordersAmount),
        totalDiscountAmount: atLeastNone(discountedAmount),
      },
    }),
  };
}

/** A tier as a page sees it: what it was used for, and the rules it goes by, are the shop's. */
export const toTierOnSale = (record: TierRecord): TierMessage => ({
  ...toTierDefinition(record),
  validationRulesAssignments: create(ValidationRulesAssignmentListSchema),
});

/** A redemption that nothing counted can be rolled back. */
const atLeastNone = (sum: bigint): bigint => (sum < 0n ? 0n : sum);

/** A tier as it is remembered: without its counts. */
export const toTierDefinition = ({ tier, campaign, category }: TierRecord): TierMessage =>
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
    categories: category === null ? [] : [toProto(category)],
    metadata: tier.metadata as JsonObject,
    createdAt: instantToProto(tier.createdAt),
    updatedAt: optionalInstantToProto(tier.updatedAt),
  });

export const toStack = ({ stack, category }: StackRecord): StackMessage =>
  create(PromotionStackSchema, {
    id: stack.id,
    name: stack.name,
    tiers: { ids: [...stack.tierIds], hierarchyMode: "MANUAL" },
    campaignId: stack.campaignId,
    categoryId: category?.id,
    categories: category === null ? [] : [toProto(category)],
    metadata: stack.metadata as JsonObject,
    createdAt: instantToProto(stack.createdAt),
    updatedAt: optionalInstantToProto(stack.updatedAt),
  });
