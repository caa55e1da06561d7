import type { VoucherUsage } from "../domain/usage.ts";
import type {
  CampaignType,
  GiftEffect,
  Metadata,
  VoucherDefinition,
  VoucherType,
} from "../domain/voucher.ts";
import { type DiscountJson, discountFromJson } from "./discount-json.ts";
import { usageFromRow, USAGE_COLUMNS, type UsageRow } from "./usages.ts";

/** A voucher with its counters. */
export type StoredVoucher = {
  readonly definition: VoucherDefinition;
  readonly usage: VoucherUsage;
};

export type VoucherRow = UsageRow & {
  id: string;
  code: string;
  type: VoucherType;
  campaign_id: string | null;
  campaign_name: string | null;
  campaign_type: CampaignType | null;
  activity_duration: string | null;
  category_id: string | null;
  discount: DiscountJson | null;
  gift_effect: GiftEffect | null;
  loyalty_points: bigint | null;
  start_date: Date | null;
  expiration_date: Date | null;
  validity_timeframe: { interval: string; duration: string } | null;
  validity_day_of_week: number[] | null;
  validity_hours: HoursJson | null;
  active: boolean | null;
  additional_info: string | null;
  metadata: Metadata;
  asset_id: string;
  is_referral_code: boolean;
  holder_id: string | null;
  referrer_id: string | null;
  publish_count: bigint;
  publication_metadata: Metadata | null;
  created_at: Date;
  updated_at: Date | null;
};

type HoursJson = {
  daily: { start_time: string; expiration_time: string; days_of_week: number[] }[];
};

/**
 * Joins `voucher_usage u` to `voucher v`, by a lookup for each voucher. Postgres expects one row of a project that its
 * statistics do not know, and would compare each voucher with each usage.
 */
export const USAGE_OF_VOUCHER = `cross join lateral (
  select * from voucher_usage where project_id = v.project_id and voucher_id = v.id limit 1) u`;

/** Of `voucher v` joined with `voucher_usage u`. */
export const VOUCHER_COLUMNS = `v.id, v.code, v.type, v.campaign_id, v.campaign_name, v.campaign_type,
  v.activity_duration, v.category_id, v.discount,
  v.gift_effect, v.loyalty_points, v.start_date, v.expiration_date, v.validity_timeframe,
  v.validity_day_of_week, v.validity_hours, v.active, v.additional_info, v.metadata, v.asset_id,
  v.is_referral_code, v.holder_id, v.referrer_id, v.publish_count, v.publication_metadata,
  v.created_at, v.updated_at,
  ${USAGE_COLUMNS}`;

export function voucherFromRow(row: VoucherRow): StoredVoucher {
  const usage = usageFromRow(row);
  return {
    usage,
    definition: {
      projectId: row.project_id,
      id: row.id,
      code: row.code,
      type: row.type,
      campaignId: row.campaign_id,
      campaignName: row.campaign_name,
      campaignType: row.campaign_type,
      categoryId: row.category_id,
      discount: row.discount && discountFromJson(row.discount),
      giftEffect: row.gift_effect,
      loyaltyPoints: row.loyalty_points,
      validity: {
        startDate: row.start_date?.getTime() ?? null,
        expirationDate: row.expiration_date?.getTime() ?? null,
        timeframe: row.validity_timeframe,
        daysOfWeek: row.validity_day_of_week,
        hours: row.validity_hours && hoursFromJson(row.validity_hours),
      },
      active: row.active,
      activityDuration: row.activity_duration,
      additionalInfo: row.additional_info,
      metadata: row.metadata,
      assetId: row.asset_id,
      isReferralCode: row.is_referral_code,
      holderId: row.holder_id,
      referrerId: row.referrer_id,
      publishCount: row.publish_count,
      publicationMetadata: row.publication_metadata,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at?.getTime() ?? null,
      version: usage.definitionVersion,
    },
  };
}

type Hours = NonNullable<VoucherDefinition["validity"]["hours"]>;

export const hoursToJson = ({ daily }: Hours): HoursJson => ({
  daily: daily.map((entry) => ({
    start_time: entry.startTime,
    expiration_time: entry.expirationTime,
    days_of_week: [...entry.daysOfWeek],
  })),
});

const hoursFromJson = ({ daily }: HoursJson): Hours => ({
  daily: daily.map((entry) => ({
    startTime: entry.start_time,
    expirationTime: entry.expiration_time,
    daysOfWeek: entry.days_of_week,
  })),
});
