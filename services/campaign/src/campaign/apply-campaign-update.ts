import { ApiError } from "@scrip/errors";
import { mergeValidityUpdate, enumName } from "@scrip/mapping";
import {
  CampaignKind,
  type CampaignLoyaltyCard,
  type UpdateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { GiftEffect } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { Campaign, Json, VoucherTemplate } from "../domain/campaign.ts";
import { invalidCampaign, requireDiscount, requireValidity } from "../mapping/terms.ts";
import { joinOnceOf } from "./plan-campaign.ts";

export type Edit = {
  readonly request: UpdateCampaignRequest;
  readonly sent: ReadonlySet<string>;
  readonly categoryId: string | undefined;
  readonly now: number;
};

/** The campaign as a request leaves it. What can never change is not even looked at. */
export function editCampaign(campaign: Campaign, edit: Edit): Campaign {
  const { request, sent, now } = edit;
  if (campaign.isProtected) {
    throw new ApiError("resource_protected", {
      details: `Campaign ${campaign.id} is protected`,
      resourceId: campaign.id,
      resourceType: "campaign",
    });
  }
  const validity = mergeValidityUpdate(campaign.validity, request, sent);
  requireValidity(validity);
  const kind = editKind(campaign, edit);
  const joinOnce = sent.has("join_once") ? (request.joinOnce ?? false) : campaign.joinOnce;
  const changed = <Value>(path: string, value: Value, before: Value): Value =>
    sent.has(path) ? value : before;
  return {
    ...campaign,
    kind,
    description: changed("description", request.description ?? null, campaign.description),
    autoJoin: changed("auto_join", request.autoJoin ?? false, campaign.autoJoin),
    joinOnce: joinOnceOf({ campaignType: campaign.campaignType, kind }, joinOnce),
    categoryId: namesCategory(sent) ? (edit.categoryId ?? null) : campaign.categoryId,
    validity,
    activityDuration: changed(
      "activity_duration_after_publishing",
      request.activityDurationAfterPublishing ?? null,
      campaign.activityDuration,
    ),
    metadata: editMetadata(campaign.metadata, edit),
    voucher: campaign.voucher && editTemplate(campaign.voucher, edit),
    referralProgram: changed(
      "referral_program",
      request.referralProgram ?? null,
      campaign.referralProgram,
    ),
    loyaltyTiersExpiration: changed(
      "loyalty_tiers_expiration",
      request.loyaltyTiersExpiration ?? null,
      campaign.loyaltyTiersExpiration,
    ),
    updatedAt: now,
  };
}

export const namesCategory = (sent: ReadonlySet<string>): boolean =>
  sent.has("category") || sent.has("category_id");

function editKind({ kind }: Campaign, { request, sent }: Edit): Campaign["kind"] {
  const wanted = enumName(CampaignKind, request.type);
  if (!sent.has("type") || wanted === undefined || wanted === kind) return kind;
  if (kind === "STANDALONE" || wanted === "STANDALONE") {
    throw invalidCampaign("Property .type can only change between AUTO_UPDATE and STATIC");
  }
  return wanted;
}

function editMetadata(before: Json, { request, sent }: Edit): Json {
  const merged = sent.has("metadata") ? { ...before, ...request.metadata } : before;
  const unset = new Set(request.unsetMetadataFields);
  return Object.fromEntries(Object.entries(merged).filter(([key]) => !unset.has(key)));
}

/** Values may change, what kind of value it is never: a voucher of it may be in somebody's hands. */
function editTemplate(template: VoucherTemplate, { request, sent }: Edit): VoucherTemplate {
  return {
    ...template,
    discount: sent.has("discount") ? editDiscount(template.discount, request) : template.discount,
    gift: sent.has("gift") ? editGift(template.gift, request) : template.gift,
    loyaltyCard: sent.has("loyalty_card")
      ? editCard(template.loyaltyCard, request.loyaltyCard)
      : template.loyaltyCard,
  };
}

function editDiscount(
  before: VoucherTemplate["discount"],
  { discount }: UpdateCampaignRequest,
): VoucherTemplate["discount"] {
  if (before === null && discount === undefined) return null;
  if (before === null) throw foreign("discount");
  if (discount === undefined) throw needed("discount");
  const definition = requireDiscount(discount);
  if (definition.type !== before.type) {
    throw invalidCampaign(`The type of the discount cannot be changed: it is ${before.type}`);
  }
  return definition;
}

function editGift(
  before: VoucherTemplate["gift"],
  { gift }: UpdateCampaignRequest,
): VoucherTemplate["gift"] {
  if (before === null && gift === undefined) return null;
  if (before === null) throw foreign("gift");
  if (gift === undefined) throw needed("gift");
  return {
    amount: gift.amount ?? before.amount,
    effect: enumName(GiftEffect, gift.effect) ?? before.effect,
  };
}

function editCard(
  before: VoucherTemplate["loyaltyCard"],
  card: CampaignLoyaltyCard | undefined,
): VoucherTemplate["loyaltyCard"] {
  if (before === null && card === undefined) return null;
  if (before === null) throw foreign("loyalty_card");
  if (card === undefined) throw needed("loyalty_card");
  return {
    points: card.points ?? before.points,
    expirationRules: card.expirationRules ?? before.expirationRules,
  };
}

const foreign = (name: string) =>
  invalidCampaign(`Property '${name}' does not belong to this campaign`);

const needed = (name: string) => invalidCampaign(`Property '${name}' must not be null`);
