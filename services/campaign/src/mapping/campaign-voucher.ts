import type { MessageInitShape } from "@bufbuild/protobuf";
import { discountToProto, validityToProto } from "@scrip/mapping";
import type {
  CampaignVoucherItemSchema,
  VoucherCampaignSchema,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { GiftEffect, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import { type Campaign, voucherTypeOf } from "../domain/campaign.ts";
import { referralTermsToProto } from "./referral-program.ts";

export type VoucherItem = Exclude<
  MessageInitShape<typeof CampaignVoucherItemSchema>,
  { $typeName: string }
>;
export type NewVoucher = Exclude<NonNullable<VoucherItem["voucher"]>, { $typeName: string }>;

/** A new voucher: its own values, and those of its campaign for the rest (docs/campaigns.md#vouchers). */
export function inheritFromCampaign(campaign: Campaign, own: NewVoucher = {}): VoucherItem {
  const { voucher, categoryId, activityDuration } = campaign;
  const type = voucherTypeOf(campaign.campaignType);
  if (voucher === null || type === null) throw new Error("promotions have no vouchers");
  const { discount, gift, loyaltyCard, quantity, codeConfig } = voucher;
  return {
    activityDurationAfterPublishing: activityDuration ?? undefined,
    voucher: {
      ...own,
      type: VoucherType[type],
      discount: own.discount ?? (discount === null ? undefined : discountToProto(discount)),
      gift:
        gift === null
          ? own.gift
          : { amount: gift.amount, effect: GiftEffect[gift.effect], ...own.gift },
      loyaltyCard:
        own.loyaltyCard ?? (loyaltyCard === null ? undefined : { points: loyaltyCard.points }),
      ...inheritedValidity(campaign, own),
      codeConfig: own.codeConfig ?? { ...codeConfig, length: BigInt(codeConfig.length) },
      categoryId: own.categoryId ?? categoryId ?? undefined,
      redemption: own.redemption ?? { quantity: quantity ?? undefined },
      metadata: {
        ...(campaign.useVoucherMetadataSchema ? campaign.metadata : {}),
        ...own.metadata,
      } as NonNullable<NewVoucher["metadata"]>,
    },
  };
}

/** Hours exclude the other recurring limits: a voucher with hours of its own inherits no timeframe or days, and vice versa. */
function inheritedValidity({ validity }: Campaign, own: NewVoucher) {
  const of = validityToProto(validity);
  const ownDays = own.validityDayOfWeek ?? [];
  const ownWindows = own.validityTimeframe !== undefined || ownDays.length > 0;
  const ownHours = own.validityHours !== undefined;
  return {
    startDate: own.startDate ?? of.startDate,
    expirationDate: own.expirationDate ?? of.expirationDate,
    validityTimeframe: own.validityTimeframe ?? (ownHours ? undefined : of.validityTimeframe),
    validityDayOfWeek: ownDays.length > 0 || ownHours ? ownDays : of.validityDayOfWeek,
    validityHours: own.validityHours ?? (ownWindows ? undefined : of.validityHours),
  };
}

/** What the voucher service stores of a campaign. */
export const voucherCampaignToProto = (
  campaign: Campaign,
): MessageInitShape<typeof VoucherCampaignSchema> => ({
  id: campaign.id,
  name: campaign.name,
  campaignType: campaign.campaignType,
  vouchersCount: campaign.vouchersCount,
  joinOnce: campaign.joinOnce,
  // Publications create vouchers in AUTO_UPDATE campaigns only.
  template: campaign.kind === "AUTO_UPDATE" ? inheritFromCampaign(campaign) : undefined,
  ...(campaign.referralProgram !== null && {
    referral: referralTermsToProto(campaign.referralProgram),
  }),
});
