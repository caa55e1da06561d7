import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ReferralReward,
  type ReferralTerms,
  ReferralTermsSchema,
  type ReferralTiers,
  ReferralTiersSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";

import type {
  ConversionEvent,
  ReferralProgram,
  RewardTerms,
  TierTerms,
} from "../domain/referral.ts";

export const referralTermsToRow = (terms: ReferralTerms): Uint8Array =>
  toBinary(ReferralTermsSchema, terms);

export const referralTiersToRow = (tiers: ReferralTiers): Uint8Array =>
  toBinary(ReferralTiersSchema, tiers);

/** The stored terms of a referral program; without terms, redemptions convert and pay nothing. */
export function referralProgramFromRow(row: {
  readonly active: boolean;
  readonly terms: Uint8Array | null;
  readonly tiers: Uint8Array | null;
}): ReferralProgram {
  const terms = row.terms && fromBinary(ReferralTermsSchema, row.terms);
  const { tiers } = row.tiers ? fromBinary(ReferralTiersSchema, row.tiers) : { tiers: [] };
  return {
    active: row.active,
    // The contract restricts the strings of these messages to the values of the types.
    conversionEvent: (terms?.conversionEventType ?? "redemption") as ConversionEvent,
    event: { name: terms?.eventName ?? null, schemaId: terms?.eventSchemaId ?? null },
    refereeReward: rewardFromProto(terms?.refereeReward),
    referrerReward: rewardFromProto(terms?.referrerReward),
    tiers: tiers.flatMap(({ id, condition, count, segmentId, reward: paid }) => {
      const reward = rewardFromProto(paid);
      if (reward === null) return [];
      const type = condition as TierTerms["condition"];
      return [{ id, condition: type, count, segmentId: segmentId ?? null, reward }];
    }),
  };
}

const rewardFromProto = (reward: ReferralReward | undefined): RewardTerms | null =>
  reward === undefined
    ? null
    : {
        campaignId: reward.campaignId,
        voucherType: reward.voucherType as RewardTerms["voucherType"],
        amount: reward.amount,
      };
