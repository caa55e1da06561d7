import type { JsonObject } from "@bufbuild/protobuf";
import {
  instantToProto,
  discountToProto,
  optionalInstantToProto,
  validityToProto,
} from "@scrip/mapping";
import {
  type Gift,
  GiftEffect,
  type LoyaltyCard,
  type RedemptionSummary,
  type Voucher,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { VoucherUsage } from "../domain/commit.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";

/**
 * A version of a definition with the part of its message that all responses share. Plain object literals with
 * `$typeName` are complete messages, and cost a tenth of `create`.
 */
export type CachedDefinition = {
  readonly definition: VoucherDefinition;
  /** Without the counters. */
  readonly message: Voucher;
  readonly redemptionsUrl: string;
};

export const toCachedDefinition = (definition: VoucherDefinition): CachedDefinition =>
  withOwnParts(definition, toSharedParts(definition));

/** What differs between the codes of a campaign. */
export type OwnParts = Pick<
  VoucherDefinition,
  "id" | "code" | "assetId" | "holderId" | "publishCount" | "createdAt" | "updatedAt" | "version"
>;

/** What many codes have in common: the rest of the definition, and of its message. */
export type SharedParts = {
  readonly definition: Omit<VoucherDefinition, keyof OwnParts>;
  readonly message: Omit<Voucher, (typeof OWN_FIELDS)[number]>;
};

const OWN_FIELDS = [
  "id",
  "code",
  "assets",
  "createdAt",
  "updatedAt",
  "holderId",
  "publish",
] as const satisfies readonly (keyof Voucher)[];

export const toOwnParts = (definition: OwnParts): OwnParts => ({
  id: definition.id,
  code: definition.code,
  assetId: definition.assetId,
  holderId: definition.holderId,
  publishCount: definition.publishCount,
  createdAt: definition.createdAt,
  updatedAt: definition.updatedAt,
  version: definition.version,
});

export function toSharedParts(whole: VoucherDefinition): SharedParts {
  const {
    id: _id,
    code: _code,
    assetId: _assetId,
    holderId: _holderId,
    publishCount: _publishCount,
    createdAt: _createdAt,
    updatedAt: _updatedAt,
    version: _version,
    ...definition
  } = whole;
  return {
    definition,
    message: {
      $typeName: "scrip.voucher.v1.Voucher",
      campaign: definition.campaignName ?? undefined,
      campaignId: definition.campaignId ?? undefined,
      categoryId: definition.categoryId ?? undefined,
      // Filled in by the gateway from category_id (services/decisions/0004).
      categories: [],
      type: VoucherType[definition.type],
      discount: definition.discount === null ? undefined : discountToProto(definition.discount),
      loyaltyCard: loyaltyCardToProto(definition.loyaltyPoints),
      ...validityToProto(definition.validity),
      active: definition.active ?? undefined,
      additionalInfo: definition.additionalInfo ?? undefined,
      // Was a Struct when it was received, so it is JSON.
      metadata: definition.metadata as JsonObject,
      isReferralCode: definition.isReferralCode,
      referrerId: definition.referrerId ?? undefined,
    },
  };
}

export function withOwnParts(
  own: OwnParts,
  { definition, message }: SharedParts,
): CachedDefinition {
  const path = `/v1/vouchers/${encodeURIComponent(own.code)}`;
  return {
    definition: { ...definition, ...toOwnParts(own) },
    message: {
      ...message,
      id: own.id,
      code: own.code,
      assets: assetsToProto(own.assetId),
      createdAt: instantToProto(own.createdAt),
      updatedAt: optionalInstantToProto(own.updatedAt),
      holderId: own.holderId ?? undefined,
      publish: {
        $typeName: "scrip.voucher.v1.PublishSummary",
        count: own.publishCount,
        url: `${path}/publications?page=1&limit=10`,
      },
    },
    redemptionsUrl: `${path}/redemptions?page=1&limit=10`,
  };
}

/** The message of a cached definition with these counters. */
export function cachedVoucherToProto(cached: CachedDefinition, usage: VoucherUsage): Voucher {
  return {
    ...cached.message,
    gift: giftToProto(cached.definition, usage),
    redemption: summaryToProto(cached, usage),
  };
}

export const voucherToProto = ({ definition, usage }: StoredVoucher): Voucher =>
  cachedVoucherToProto(toCachedDefinition(definition), usage);

function giftToProto(definition: VoucherDefinition, usage: VoucherUsage): Gift | undefined {
  if (usage.amount === null || usage.balance === null) return undefined;
  return {
    $typeName: "scrip.voucher.v1.Gift",
    amount: usage.amount,
    balance: usage.balance,
    effect: definition.giftEffect === null ? undefined : GiftEffect[definition.giftEffect],
  };
}

function loyaltyCardToProto(points: bigint | null): LoyaltyCard | undefined {
  if (points === null) return undefined;
  return { $typeName: "scrip.voucher.v1.LoyaltyCard", points, balance: points };
}

function summaryToProto(cached: CachedDefinition, usage: VoucherUsage): RedemptionSummary {
  return {
    $typeName: "scrip.voucher.v1.RedemptionSummary",
    quantity: usage.quantity ?? undefined,
    redeemedQuantity: usage.redeemedQuantity,
    redeemedPoints: cached.definition.loyaltyPoints === null ? undefined : 0n,
    redeemedAmount: usage.amount === null ? undefined : usage.redeemedAmount,
    url: cached.redemptionsUrl,
  };
}

function assetsToProto(id: string): Voucher["assets"] {
  const asset = (kind: string) => ({
    $typeName: "scrip.voucher.v1.Asset" as const,
    id,
    url: `/v1/assets/${kind}/${id}`,
  });
  return { $typeName: "scrip.voucher.v1.Assets", qr: asset("qr"), barcode: asset("barcode") };
}
