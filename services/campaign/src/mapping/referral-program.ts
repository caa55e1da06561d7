import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ReferralRewardSchema,
  ReferralTermsSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";

import type { ReferralProgram, ReferralReward } from "../domain/referral-program.ts";

/** The settings as the voucher service stores them. */
export const referralTermsToProto = (
  program: ReferralProgram,
): MessageInitShape<typeof ReferralTermsSchema> => ({
  conversionEventType: program.conversionEventType,
  ...(program.customEvent?.name != null && { eventName: program.customEvent.name }),
  ...(program.customEvent?.id != null && { eventSchemaId: program.customEvent.id }),
  ...(program.refereeReward !== null && { refereeReward: rewardToProto(program.refereeReward) }),
  ...(program.referrerReward !== null && { referrerReward: rewardToProto(program.referrerReward) }),
});

export const rewardToProto = ({
  campaign,
  type,
  amount,
}: ReferralReward): MessageInitShape<typeof ReferralRewardSchema> => ({
  campaignId: campaign.id,
  voucherType: type,
  amount,
});
