import { invalidPayload } from "@scrip/errors";
import { enumName, validityFromProto } from "@scrip/mapping";
import {
  type CreateVoucherRequest,
  GiftEffect,
  VoucherType as VoucherTypes,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import { type CampaignType, type VoucherDefinition, type VoucherType } from "../domain/voucher.ts";
import { invalidVoucher, requireValidity, requireDiscount } from "./check-request.ts";

/** A voucher without its code. */
export type VoucherDraft = Omit<VoucherDefinition, "code" | "assetId"> & {
  readonly quantity: bigint | null;
  readonly amount: bigint | null;
};

/** The id of a new voucher and the campaign that it belongs to. */
export type VoucherOrigin = {
  readonly id: string;
  readonly campaign: {
    readonly id: string;
    readonly name: string;
    readonly type: CampaignType;
  } | null;
  readonly activityDuration: string | null;
};

export function draftVoucher(
  request: CreateVoucherRequest,
  call: Call,
  origin: VoucherOrigin,
): VoucherDraft {
  const type = enumName(VoucherTypes, request.type) ?? inferredType(request);
  requireTypeValues(request, type);
  const validity = validityFromProto(request);
  requireValidity(validity);
  return {
    projectId: call.project.id,
    id: origin.id,
    type,
    campaignId: origin.campaign?.id ?? null,
    campaignName: origin.campaign?.name ?? null,
    campaignType: origin.campaign?.type ?? null,
    categoryId: request.categoryId ?? null,
    discount: request.discount === undefined ? null : requireDiscount(request.discount),
    giftEffect:
      type === "GIFT_VOUCHER"
        ? (enumName(GiftEffect, request.gift?.effect) ?? "APPLY_TO_ORDER")
        : null,
    loyaltyPoints: request.loyaltyCard?.points ?? null,
    validity,
    activityDuration: origin.activityDuration,
    active: request.active ?? true,
    additionalInfo: request.additionalInfo ?? null,
    metadata: request.metadata ?? {},
    isReferralCode: origin.campaign?.type === "REFERRAL_PROGRAM",
    holderId: null,
    referrerId: null,
    publishCount: 0n,
    publicationMetadata: null,
    createdAt: call.now,
    updatedAt: null,
    version: 1n,
    quantity: request.redemption?.quantity ?? null,
    amount: request.gift?.amount ?? null,
  };
}

/** The type that the values of a request without a type belong to. */
function inferredType({ discount, gift, loyaltyCard }: CreateVoucherRequest): VoucherType {
  if (discount !== undefined) return "DISCOUNT_VOUCHER";
  if (gift !== undefined) return "GIFT_VOUCHER";
  if (loyaltyCard !== undefined) return "LOYALTY_CARD";
  throw invalidPayload("Payload should have required property 'type'");
}

/** Checks that the request has the value object of its type, and no other. */
function requireTypeValues(request: CreateVoucherRequest, type: VoucherType): void {
  const own = { DISCOUNT_VOUCHER: "discount", GIFT_VOUCHER: "gift", LOYALTY_CARD: "loyalty_card" };
  const sent = {
    discount: request.discount,
    gift: request.gift,
    loyalty_card: request.loyaltyCard,
  };
  for (const [name, value] of Object.entries(sent)) {
    if (name === own[type] && value === undefined) {
      throw invalidVoucher(`Property .${name} is required for a voucher of type ${type}`);
    }
    if (name !== own[type] && value !== undefined) {
      throw invalidVoucher(`Property .${name} does not belong to a voucher of type ${type}`);
    }
  }
  if (type === "GIFT_VOUCHER" && request.gift?.amount === undefined) {
    throw invalidVoucher("Property .gift.amount is required for a voucher of type GIFT_VOUCHER");
  }
  if (type === "LOYALTY_CARD" && request.loyaltyCard?.points === undefined) {
    throw invalidVoucher(
      "Property .loyalty_card.points is required for a voucher of type LOYALTY_CARD",
    );
  }
}
