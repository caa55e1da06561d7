import type { JsonObject } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type Discount,
  DiscountEffect,
  DiscountType,
} from "@scrip/proto/scrip/common/v1/discount_pb";
import type { ValidityHours, ValidityTimeframe } from "@scrip/proto/scrip/common/v1/validity_pb";
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
import type { StoredVoucher } from "../store/vouchers.ts";

/**
 * What all answers about one version of a definition share. Plain object literals with `$typeName`
 * are whole messages, and cost a tenth of `create`.
 */
export type VoucherTemplate = {
  readonly definition: VoucherDefinition;
  /** Without what redemptions change. */
  readonly message: Voucher;
  readonly redemptionsUrl: string;
};

export function templateOf(definition: VoucherDefinition): VoucherTemplate {
  const path = `/v1/vouchers/${encodeURIComponent(definition.code)}`;
  const { validity } = definition;
  const message: Voucher = {
    $typeName: "scrip.voucher.v1.Voucher",
    id: definition.id,
    code: definition.code,
    campaignId: definition.campaignId ?? undefined,
    categoryId: definition.categoryId ?? undefined,
    // Filled in by the gateway from category_id (services/decisions/0004).
    categories: [],
    type: VoucherType[definition.type],
    discount: definition.discount === null ? undefined : toDiscount(definition.discount),
    loyaltyCard: toLoyaltyCard(definition.loyaltyPoints),
    startDate: toTimestamp(validity.startDate),
    expirationDate: toTimestamp(validity.expirationDate),
    validityTimeframe: toTimeframe(validity.timeframe),
    validityDayOfWeek: [...(validity.daysOfWeek ?? [])],
    validityHours: toHours(validity.hours),
    active: definition.active ?? undefined,
    additionalInfo: definition.additionalInfo ?? undefined,
    // JSON that came through the contract's Struct and was stored as JSON.
    metadata: definition.metadata as JsonObject,
    assets: toAssets(definition.assetId),
    isReferralCode: definition.isReferralCode,
    createdAt: timestampOf(definition.createdAt),
    updatedAt: toTimestamp(definition.updatedAt),
    holderId: definition.holderId ?? undefined,
    referrerId: definition.referrerId ?? undefined,
    publish: {
      $typeName: "scrip.voucher.v1.PublishSummary",
      count: 0n,
      url: `${path}/publications?page=1&limit=10`,
    },
    validationRulesAssignments: {
      $typeName: "scrip.voucher.v1.ValidationRulesAssignments",
      data: [],
      total: 0n,
    },
  };
  return { definition, message, redemptionsUrl: `${path}/redemptions?page=1&limit=10` };
}

/** The voucher as it stands with this usage. */
export function composeVoucher(template: VoucherTemplate, usage: VoucherUsage): Voucher {
  return {
    ...template.message,
    gift: toGift(template.definition, usage),
    redemption: toSummary(template, usage),
  };
}

export const toVoucher = ({ definition, usage }: StoredVoucher): Voucher =>
  composeVoucher(templateOf(definition), usage);

export const timestampOf = (instant: number): Timestamp => {
  const seconds = Math.floor(instant / 1000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (instant - seconds * 1000) * 1_000_000,
  };
};

export const instantOf = ({ seconds, nanos }: Timestamp): number =>
  Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);

const toTimestamp = (instant: number | null): Timestamp | undefined =>
  instant === null ? undefined : timestampOf(instant);

function toGift(definition: VoucherDefinition, usage: VoucherUsage): Gift | undefined {
  if (usage.amount === null || usage.balance === null) return undefined;
  return {
    $typeName: "scrip.voucher.v1.Gift",
    amount: usage.amount,
    balance: usage.balance,
    effect: definition.giftEffect === null ? undefined : GiftEffect[definition.giftEffect],
  };
}

function toLoyaltyCard(points: bigint | null): LoyaltyCard | undefined {
  if (points === null) return undefined;
  return { $typeName: "scrip.voucher.v1.LoyaltyCard", points, balance: points };
}

function toSummary(template: VoucherTemplate, usage: VoucherUsage): RedemptionSummary {
  return {
    $typeName: "scrip.voucher.v1.RedemptionSummary",
    quantity: usage.quantity ?? undefined,
    redeemedQuantity: usage.redeemedQuantity,
    redeemedPoints: template.definition.loyaltyPoints === null ? undefined : 0n,
    redeemedAmount: usage.amount === null ? undefined : usage.redeemedAmount,
    url: template.redemptionsUrl,
  };
}

function toDiscount(discount: NonNullable<VoucherDefinition["discount"]>): Discount {
  return {
    $typeName: "scrip.common.v1.Discount",
    units: [],
    type: DiscountType[discount.type],
    effect: discount.effect === null ? undefined : DiscountEffect[discount.effect],
    percentOff: discount.percentOff ?? undefined,
    percentOffFormula: discount.percentOffFormula ?? undefined,
    amountOff: discount.amountOff ?? undefined,
    amountOffFormula: discount.amountOffFormula ?? undefined,
    amountLimit: discount.amountLimit ?? undefined,
    aggregatedAmountLimit: discount.aggregatedAmountLimit ?? undefined,
    fixedAmount: discount.fixedAmount ?? undefined,
    fixedAmountFormula: discount.fixedAmountFormula ?? undefined,
  };
}

function toTimeframe(
  timeframe: VoucherDefinition["validity"]["timeframe"],
): ValidityTimeframe | undefined {
  if (timeframe === null) return undefined;
  return { $typeName: "scrip.common.v1.ValidityTimeframe", ...timeframe };
}

function toHours(hours: VoucherDefinition["validity"]["hours"]): ValidityHours | undefined {
  if (hours === null) return undefined;
  return {
    $typeName: "scrip.common.v1.ValidityHours",
    daily: hours.daily.map((entry) => ({
      $typeName: "scrip.common.v1.DailyHours",
      startTime: entry.startTime,
      expirationTime: entry.expirationTime,
      daysOfWeek: [...entry.daysOfWeek],
    })),
  };
}

function toAssets(id: string): Voucher["assets"] {
  const asset = (kind: string) => ({
    $typeName: "scrip.voucher.v1.Asset" as const,
    id,
    url: `/v1/assets/${kind}/${id}`,
  });
  return { $typeName: "scrip.voucher.v1.Assets", qr: asset("qr"), barcode: asset("barcode") };
}
