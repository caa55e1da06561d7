import { toBinary } from "@bufbuild/protobuf";
import {
  CampaignVoucherItemSchema,
  type VoucherCampaign,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";

import type { CampaignType } from "../domain/voucher.ts";
import type { NewCampaign } from "../store/campaigns.ts";
import { referralTermsToRow } from "../store/referral-terms.ts";

/** The campaign as publications need it. */
export const campaignFromProto = (campaign: VoucherCampaign): NewCampaign => ({
  id: campaign.id,
  name: campaign.name,
  // The contract restricts it to these values.
  type: campaign.campaignType as CampaignType,
  joinOnce: campaign.joinOnce,
  template:
    campaign.template === undefined ? null : toBinary(CampaignVoucherItemSchema, campaign.template),
  convertsOrders: campaign.referral?.conversionEventType === "order",
  referralTerms: campaign.referral === undefined ? null : referralTermsToRow(campaign.referral),
});

/** The campaign as its vouchers store it. */
export const campaignOriginFromProto = ({
  id,
  name,
  campaignType,
}: VoucherCampaign): {
  readonly id: string;
  readonly name: string;
  readonly type: CampaignType;
} => ({
  id,
  name,
  // The contract restricts it to these values.
  type: campaignType as CampaignType,
});
