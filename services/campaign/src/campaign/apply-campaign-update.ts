import { enumName } from "@scrip/mapping";
import {
  CampaignKind,
  type UpdateCampaignRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { GiftEffect } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import {
  type Campaign,
  effectiveJoinOnce,
  type Json,
  type VoucherTemplate,
} from "../domain/campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import type { ReferralProgram } from "../domain/referral-program.ts";
import { parseDiscount } from "../mapping/discount.ts";
import { parseChangedValidity } from "../mapping/validity.ts";
import { checkedExpirationRules, checkedTiersExpiration } from "../mapping/voucher-template.ts";
import { requireUnprotected } from "./require-unprotected.ts";

export type CampaignUpdate = {
  readonly request: UpdateCampaignRequest;
  /** Paths of the update mask; null below a field has a path of its own. */
  readonly sent: ReadonlySet<string>;
  readonly categoryId: string | undefined;
  /** The new settings of a referral program; undefined when they stay. */
  readonly referralProgram: ReferralProgram | undefined;
  readonly now: number;
};

/** The campaign after an update. Fields that cannot change are ignored. */
export function applyCampaignUpdate(campaign: Campaign, edit: CampaignUpdate): Campaign {
  const { request, sent, now } = edit;
  requireUnprotected(campaign);
  const validity = parseChangedValidity(campaign.validity, request, sent);
  const kind = updatedKind(campaign, edit);
  const joinOnce = sent.has("join_once") ? (request.joinOnce ?? false) : campaign.joinOnce;
  const changed = <Value>(path: string, value: Value, before: Value): Value =>
    sent.has(path) ? value : before;
  return {
    ...campaign,
    kind,
    description: changed("description", request.description ?? null, campaign.description),
    autoJoin: changed("auto_join", request.autoJoin ?? false, campaign.autoJoin),
    joinOnce: effectiveJoinOnce({ campaignType: campaign.campaignType, kind }, joinOnce),
    categoryId: changesCategory(sent) ? (edit.categoryId ?? null) : campaign.categoryId,
    validity,
    activityDuration: changed(
      "activity_duration_after_publishing",
      request.activityDurationAfterPublishing ?? null,
      campaign.activityDuration,
    ),
    metadata: updatedMetadata(campaign.metadata, edit),
    voucher:
      campaign.voucher === null ? rejectTemplate(edit) : updatedTemplate(campaign.voucher, edit),
    referralProgram: edit.referralProgram ?? campaign.referralProgram,
    loyaltyTiersExpiration: changed(
      "loyalty_tiers_expiration",
      checkedTiersExpiration(request.loyaltyTiersExpiration),
      campaign.loyaltyTiersExpiration,
    ),
    updatedAt: now,
  };
}

export const changesCategory = (sent: ReadonlySet<string>): boolean =>
  sent.has("category") || sent.has("category_id");

function updatedKind({ kind }: Campaign, { request, sent }: CampaignUpdate): Campaign["kind"] {
  const wanted = enumName(CampaignKind, request.type);
  if (!sent.has("type") || wanted === undefined || wanted === kind) return kind;
  if (kind === "STANDALONE" || wanted === "STANDALONE") {
    throw invalidCampaign("Property .type can only change between AUTO_UPDATE and STATIC");
  }
  return wanted;
}

function updatedMetadata(before: Json, { request, sent }: CampaignUpdate): Json {
  const merged = sent.has("metadata") ? { ...before, ...request.metadata } : before;
  const unset = new Set(request.unsetMetadataFields);
  return Object.fromEntries(Object.entries(merged).filter(([key]) => !unset.has(key)));
}

/** Promotions have no vouchers. */
function rejectTemplate({ request: { discount, gift, loyaltyCard } }: CampaignUpdate): null {
  if (discount !== undefined) throw notOfThisCampaign("discount");
  if (gift !== undefined) throw notOfThisCampaign("gift");
  if (loyaltyCard !== undefined) throw notOfThisCampaign("loyalty_card");
  return null;
}

/** Values may change, but never the kind of value: customers may hold vouchers already. */
function updatedTemplate(
  template: VoucherTemplate,
  { request, sent }: CampaignUpdate,
): VoucherTemplate {
  return {
    ...template,
    discount: sent.has("discount")
      ? updatedDiscount(template.discount, request)
      : template.discount,
    gift: sent.has("gift") ? updatedGift(template.gift, request) : template.gift,
    loyaltyCard: updatedLoyaltyCard(template.loyaltyCard, { request, sent }),
  };
}

function updatedDiscount(
  before: VoucherTemplate["discount"],
  { discount }: UpdateCampaignRequest,
): VoucherTemplate["discount"] {
  if (before === null && discount === undefined) return null;
  if (before === null) throw notOfThisCampaign("discount");
  if (discount === undefined) throw mustNotBeNull("discount");
  const definition = parseDiscount(discount);
  if (definition.type !== before.type) {
    throw invalidCampaign(`The type of the discount cannot be changed: it is ${before.type}`);
  }
  return definition;
}

function updatedGift(
  before: VoucherTemplate["gift"],
  { gift }: UpdateCampaignRequest,
): VoucherTemplate["gift"] {
  if (before === null && gift === undefined) return null;
  if (before === null) throw notOfThisCampaign("gift");
  if (gift === undefined) throw mustNotBeNull("gift");
  return {
    amount: gift.amount ?? before.amount,
    effect: enumName(GiftEffect, gift.effect) ?? before.effect,
  };
}

function updatedLoyaltyCard(
  before: VoucherTemplate["loyaltyCard"],
  { request: { loyaltyCard: card }, sent }: Pick<CampaignUpdate, "request" | "sent">,
): VoucherTemplate["loyaltyCard"] {
  const isSent = sent.has("loyalty_card");
  // gRPC callers may name the rules alone.
  const areRulesSent = sent.has("loyalty_card.expiration_rules");
  if ((!isSent && !areRulesSent) || (before === null && card === undefined)) return before;
  if (before === null) throw notOfThisCampaign("loyalty_card");
  if (isSent && card === undefined) throw mustNotBeNull("loyalty_card");
  const rules = checkedExpirationRules(card?.expirationRules);
  return {
    points: (isSent ? card?.points : undefined) ?? before.points,
    expirationRules: rules ?? (areRulesSent ? null : before.expirationRules),
  };
}

const notOfThisCampaign = (name: string) =>
  invalidCampaign(`Property '${name}' does not belong to this campaign`);

const mustNotBeNull = (name: string) => invalidCampaign(`Property '${name}' must not be null`);
