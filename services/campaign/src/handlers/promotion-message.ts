import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  type PromotionStack as StackMessage,
  PromotionStackSchema,
  type PromotionTier as TierMessage,
  PromotionTierSchema,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { timestampOf, toDiscount, toTimestamp, validityFields } from "@scrip/terms";

import type { StackRecord } from "../store/stacks.ts";
import type { TierRecord } from "../store/tiers.ts";
import { toProto } from "./to-proto.ts";

export const toTier = ({ tier, campaign, category }: TierRecord): TierMessage =>
  create(PromotionTierSchema, {
    id: tier.id,
    name: tier.name,
    banner: tier.banner ?? undefined,
    action: { discount: toDiscount(tier.discount) },
    hierarchy: tier.hierarchy,
    campaignId: campaign.id,
    campaign: {
      id: campaign.id,
      active: campaign.active,
      startDate: toTimestamp(campaign.startDate),
      expirationDate: toTimestamp(campaign.expirationDate),
    },
    active: tier.active,
    ...validityFields(tier.validity),
    categoryId: category?.id,
    categories: category === null ? [] : [toProto(category)],
    metadata: tier.metadata as JsonObject,
    // Counted from the events of redemptions, which nothing reads yet.
    summary: {
      redemptions: { totalRedeemed: 0n },
      orders: { totalAmount: 0n, totalDiscountAmount: 0n },
    },
    createdAt: timestampOf(tier.createdAt),
    updatedAt: toTimestamp(tier.updatedAt),
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
    createdAt: timestampOf(stack.createdAt),
    updatedAt: toTimestamp(stack.updatedAt),
  });
