import { deleted, type PublishedChange, publishes } from "@scrip/idempotency";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";

import { CAMPAIGNS_TOPIC } from "./campaign-events.ts";

const { createVoucher, createCampaignVouchers } = CampaignService.method;
const promotions = PromotionService.method;
const referrals = ReferralTierService.method;

const ADDED = ["voucher.created", "campaign.vouchers.added"];
const TIER = "campaign.promotion_tier";
const STACK = "campaign.promotion_stack";
const REFERRAL_TIER = "campaign.referral_tier";

/** What requests publish for webhooks; changes of campaigns are CampaignChanged. */
export const RESOURCE_CHANGES: readonly PublishedChange[] = [
  publishes(createVoucher, CAMPAIGNS_TOPIC, ADDED),
  publishes(createCampaignVouchers, CAMPAIGNS_TOPIC, ADDED),
  publishes(promotions.createPromotionTier, CAMPAIGNS_TOPIC, [`${TIER}.created`]),
  publishes(promotions.updatePromotionTier, CAMPAIGNS_TOPIC, [`${TIER}.updated`]),
  publishes(promotions.enablePromotionTier, CAMPAIGNS_TOPIC, [`${TIER}.enabled`]),
  publishes(promotions.disablePromotionTier, CAMPAIGNS_TOPIC, [`${TIER}.disabled`]),
  publishes(
    promotions.deletePromotionTier,
    CAMPAIGNS_TOPIC,
    [`${TIER}.deleted`],
    (_, { tierId }) => [deleted("promotion_tier", tierId)],
  ),
  publishes(promotions.createPromotionStack, CAMPAIGNS_TOPIC, [`${STACK}.created`]),
  publishes(promotions.updatePromotionStack, CAMPAIGNS_TOPIC, [`${STACK}.updated`]),
  publishes(
    promotions.deletePromotionStack,
    CAMPAIGNS_TOPIC,
    [`${STACK}.deleted`],
    (_, { stackId }) => [deleted("promotion_stack", stackId)],
  ),
  publishes(referrals.createReferralTier, CAMPAIGNS_TOPIC, [`${REFERRAL_TIER}.created`]),
  publishes(referrals.updateReferralTier, CAMPAIGNS_TOPIC, [`${REFERRAL_TIER}.updated`]),
  publishes(referrals.enableReferralTier, CAMPAIGNS_TOPIC, [`${REFERRAL_TIER}.updated`]),
  publishes(referrals.disableReferralTier, CAMPAIGNS_TOPIC, [`${REFERRAL_TIER}.updated`]),
  publishes(
    referrals.deleteReferralTier,
    CAMPAIGNS_TOPIC,
    [`${REFERRAL_TIER}.deleted`],
    (_, { tierId }) => [deleted("referral_tier", tierId)],
  ),
];
