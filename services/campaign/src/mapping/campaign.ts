import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  instantToProto,
  discountToProto,
  optionalInstantToProto,
  validityToProto,
} from "@scrip/mapping";
import {
  type Campaign as CampaignMessage,
  type CampaignDefinition,
  CampaignDefinitionSchema,
  CampaignKind,
  CampaignSchema,
  CampaignStatus,
  CampaignType,
  type CampaignVoucher,
  CampaignVoucherSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { GiftEffect, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import { type Campaign, type Json, voucherTypeOf } from "../domain/campaign.ts";
import { referralProgramToJson } from "../domain/referral-program-json.ts";
import { DEFAULT_REFERRAL_PROGRAM } from "../domain/referral-program.ts";
import type { CampaignRecord } from "../store/campaigns.ts";
import type { TierRecord } from "../store/promotion-tiers.ts";
import { categoryToProto } from "./category.ts";
import { codeSettingsToProto } from "./code-config.ts";
import { tierToProto } from "./promotion-tier.ts";

export type CampaignWithTiers = CampaignRecord & {
  /** Promotions only. */
  readonly tiers?: readonly TierRecord[] | undefined;
};

export function campaignToProto(
  { campaign, category, tiers = [] }: CampaignWithTiers,
  project: Call["project"],
): CampaignMessage {
  const { validityTimeframe, validityDayOfWeek, validityHours, startDate, expirationDate } =
    validityToProto(campaign.validity);
  return create(CampaignSchema, {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description ?? undefined,
    campaignType: CampaignType[campaign.campaignType],
    type: CampaignKind[campaign.kind],
    autoJoin: campaign.autoJoin,
    joinOnce: campaign.joinOnce,
    useVoucherMetadataSchema: campaign.useVoucherMetadataSchema,
    vouchersCount: campaign.vouchersCount,
    startDate,
    expirationDate,
    validityTimeframe,
    validityDayOfWeek,
    validityHours,
    activityDurationAfterPublishing: campaign.activityDuration ?? undefined,
    active: campaign.active,
    metadata: campaign.metadata as JsonObject,
    createdAt: instantToProto(campaign.createdAt),
    updatedAt: optionalInstantToProto(campaign.updatedAt),
    creationStatus: CampaignStatus[campaign.creationStatus],
    vouchersGenerationStatus: CampaignStatus[campaign.generationStatus],
    protected: campaign.isProtected,
    category: category?.name,
    categoryId: category?.id,
    categories: category === null ? [] : [categoryToProto(category)],
    voucher: campaignVoucherToProto(campaign, project),
    promotion:
      campaign.campaignType === "PROMOTION"
        ? { tiers: tiers.map((record) => tierToProto(record)), total: BigInt(tiers.length) }
        : undefined,
    referralProgram: structToProto(
      campaign.referralProgram && referralProgramToJson(campaign.referralProgram),
    ),
    loyaltyTiersExpiration: structToProto(campaign.loyaltyTiersExpiration),
    accessSettingsAssignments: { data: [], total: 0n },
  });
}

// JSON that was received as a Struct and stored as JSON.
const structToProto = (json: Json | null): JsonObject | undefined =>
  json === null ? undefined : (json as JsonObject);

function campaignVoucherToProto(
  { campaignType, voucher, validity }: Campaign,
  project: Call["project"],
): CampaignVoucher | undefined {
  const type = voucherTypeOf(campaignType);
  if (voucher === null || type === null) return undefined;
  const { discount, gift, loyaltyCard, quantity, codeConfig, code } = voucher;
  const { startDate, expirationDate, validityTimeframe } = validityToProto(validity);
  return create(CampaignVoucherSchema, {
    type: VoucherType[type],
    discount: discount === null ? undefined : discountToProto(discount),
    gift:
      gift === null
        ? undefined
        : { amount: gift.amount, balance: gift.amount, effect: GiftEffect[gift.effect] },
    loyaltyCard:
      loyaltyCard === null
        ? undefined
        : {
            points: loyaltyCard.points,
            balance: loyaltyCard.points,
            expirationRules: structToProto(loyaltyCard.expirationRules),
          },
    redemption: { quantity: quantity ?? undefined },
    codeConfig:
      code === null
        ? codeSettingsToProto(codeConfig, project)
        : { ...codeConfig, length: BigInt(codeConfig.length) },
    isReferralCode: campaignType === "REFERRAL_PROGRAM",
    startDate,
    expirationDate,
    validityTimeframe,
    code: code ?? undefined,
  });
}

/** The part of a campaign that decisions read. */
export const campaignDefinitionToProto = ({
  campaign,
  category,
}: CampaignRecord): CampaignDefinition =>
  create(CampaignDefinitionSchema, {
    id: campaign.id,
    name: campaign.name,
    campaignType: CampaignType[campaign.campaignType],
    type: CampaignKind[campaign.kind],
    active: campaign.active,
    ...validityToProto(campaign.validity),
    activityDurationAfterPublishing: campaign.activityDuration ?? undefined,
    categoryId: category?.id,
    categories: category === null ? [] : [categoryToProto(category)],
    joinOnce: campaign.joinOnce,
    autoJoin: campaign.autoJoin,
    metadata: campaign.metadata as JsonObject,
    protected: campaign.isProtected,
    createdAt: instantToProto(campaign.createdAt),
    referralConversion: referralConversionToProto(campaign),
  });

function referralConversionToProto({ campaignType, referralProgram }: Campaign) {
  if (campaignType !== "REFERRAL_PROGRAM") return undefined;
  const { conversionEventType: eventType, customEvent } =
    referralProgram ?? DEFAULT_REFERRAL_PROGRAM;
  return {
    eventType,
    ...(customEvent?.name != null && { eventName: customEvent.name }),
    ...(customEvent?.id != null && { eventSchemaId: customEvent.id }),
  };
}
