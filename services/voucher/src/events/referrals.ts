import { create, toBinary } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import {
  ReferralCodeRedeemedSchema,
  ReferralConvertedSchema,
  ReferralRewardedSchema,
} from "@scrip/proto/scrip/events/v1/referrals_pb";

import type { NewEvent } from "../store/commit-statement.ts";
import type { NewConversion } from "../store/referral-conversions.ts";
import type { DueReward } from "../store/referral-rewards.ts";

export const REFERRALS_TOPIC = "scrip.referrals.v1";

/** The event of a redeemed referral code. */
export const referralCodeRedeemed = (
  id: string,
  redemption: {
    readonly projectId: string;
    readonly redemptionId: string;
    readonly voucherId: string;
    readonly customerId: string;
    readonly date: Timestamp;
  },
): NewEvent => ({
  projectId: redemption.projectId,
  id,
  topic: REFERRALS_TOPIC,
  type: ReferralCodeRedeemedSchema.typeName,
  key: redemption.voucherId,
  payload: toBinary(ReferralCodeRedeemedSchema, create(ReferralCodeRedeemedSchema, redemption)),
});

/** The event of a conversion. */
export const referralConverted = (id: string, conversion: NewConversion): OutboxEvent => ({
  projectId: conversion.projectId,
  id,
  topic: REFERRALS_TOPIC,
  type: ReferralConvertedSchema.typeName,
  key: conversion.voucherId,
  payload: toBinary(
    ReferralConvertedSchema,
    create(ReferralConvertedSchema, {
      projectId: conversion.projectId,
      voucherId: conversion.voucherId,
      campaignId: conversion.campaignId,
      referrerId: conversion.referrerId,
      refereeId: conversion.refereeId,
      relatedObjectType: conversion.cause.type,
      relatedObjectId: conversion.cause.id,
      date: instantToProto(conversion.at),
    }),
  ),
});

export type RewardPayment = {
  readonly voucherId: string;
  /** Loyalty cards only: the points that the card started with. */
  readonly initialPoints: bigint | null;
  readonly at: number;
};

/** The event of a paid reward. */
export const referralRewarded = (
  id: string,
  reward: DueReward,
  { voucherId, initialPoints, at }: RewardPayment,
): OutboxEvent => ({
  projectId: reward.projectId,
  id,
  topic: REFERRALS_TOPIC,
  type: ReferralRewardedSchema.typeName,
  key: voucherId,
  payload: toBinary(
    ReferralRewardedSchema,
    create(ReferralRewardedSchema, {
      projectId: reward.projectId,
      rewardKey: reward.key,
      referralCampaignId: reward.referralCampaignId,
      customerId: reward.customerId,
      referrerId: reward.referrerId,
      refereeId: reward.refereeId,
      voucherId,
      campaignId: reward.campaignId,
      ...(reward.tierId !== null && { tierId: reward.tierId }),
      ...(reward.voucherType === "GIFT_VOUCHER" && { credits: reward.amount }),
      ...(initialPoints !== null && { points: reward.amount, initialPoints }),
      date: instantToProto(at),
    }),
  ),
});
