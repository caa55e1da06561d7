import { create, type JsonObject } from "@bufbuild/protobuf";
import { instantToProto, optionalInstantToProto } from "@scrip/mapping";
import {
  type ReferralTier as ReferralTierMessage,
  ReferralTierSchema,
} from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";

import { rewardToJson } from "../domain/referral-program-json.ts";
import type { ReferralTier } from "../domain/referral-program.ts";
import { rewardToProto } from "./referral-program.ts";

export const referralTierToProto = (tier: ReferralTier): ReferralTierMessage =>
  create(ReferralTierSchema, {
    id: tier.id,
    campaignId: tier.campaignId,
    name: tier.name,
    condition: { type: tier.conditionType, count: tier.count },
    ...(tier.segmentId !== null && { segmentId: tier.segmentId }),
    reward: rewardToJson(tier.reward) as JsonObject,
    active: tier.active,
    createdAt: instantToProto(tier.createdAt),
    updatedAt: optionalInstantToProto(tier.updatedAt),
  });

/** The enabled tiers as the voucher service stores them. */
export const referralTiersToProto = (tiers: readonly ReferralTier[]) => ({
  tiers: tiers
    .filter(({ active }) => active)
    .map(({ id, conditionType, count, segmentId, reward }) => ({
      id,
      condition: conditionType,
      count,
      ...(segmentId !== null && { segmentId }),
      reward: rewardToProto(reward),
    })),
});
