import type { Queryable } from "@scrip/postgres";

import type { VoucherUsage } from "../domain/commit.ts";
import {
  type CampaignType,
  foldedKeyOf,
  type GiftEffect,
  type Metadata,
  type VoucherDefinition,
  type VoucherType,
} from "../domain/voucher.ts";
import { int4Array, textArray } from "./arrays.ts";
import { type DiscountJson, fromDiscountJson, toDiscountJson } from "./discount-json.ts";
import { fromUsageRow, USAGE_COLUMNS, type UsageRow } from "./usages.ts";

/** A voucher as it stands. */
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

/** Of `voucher v` joined with `voucher_usage u`. */
export const VOUCHER_COLUMNS = `v.id, v.code, v.type, v.campaign_id, v.campaign_name, v.campaign_type,
  v.activity_duration, v.category_id, v.discount,
  v.gift_effect, v.loyalty_points, v.start_date, v.expiration_date, v.validity_timeframe,
  v.validity_day_of_week, v.validity_hours, v.active, v.additional_info, v.metadata, v.asset_id,
  v.is_referral_code, v.holder_id, v.referrer_id, v.publish_count, v.publication_metadata,
  v.created_at, v.updated_at,
  ${USAGE_COLUMNS}`;

export type VoucherName = { readonly projectId: string; readonly code: string };

/**
 * Finds vouchers by code, or by id where no code fits, in the order of the names. What stands in
 * `lateral … limit 1` is looked up row by row through an index, however long the list is. Each branch
 * names the whole of one unique key and nothing else, so that the planner has no reason for another.
 */
export async function findVouchers(
  db: Queryable,
  names: readonly VoucherName[],
): Promise<readonly (StoredVoucher | undefined)[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<VoucherRow & { position: number }>(FIND_VOUCHERS, [
    int4Array(names.map((_, position) => position)),
    textArray(names.map(({ projectId }) => projectId)),
    textArray(names.map(({ code }) => code)),
    textArray(names.map(({ code }) => foldedKeyOf(code))),
  ]);
  const found: (StoredVoucher | undefined)[] = names.map(() => undefined);
  for (const row of rows) found[row.position] = fromVoucherRow(row);
  return found;
}

export async function findVoucher(
  db: Queryable,
  projectId: string,
  code: string,
): Promise<StoredVoucher | undefined> {
  const [voucher] = await findVouchers(db, [{ projectId, code }]);
  return voucher;
}

export type VoucherId = { readonly projectId: string; readonly id: string };

/** In no order, and also deleted ones: their redemptions stay in the books. */
export async function findVouchersById(
  db: Queryable,
  ids: readonly VoucherId[],
): Promise<readonly StoredVoucher[]> {
  const { rows } = await db.query<VoucherRow>(FIND_VOUCHERS_BY_ID, [
    textArray(ids.map(({ projectId }) => projectId)),
    textArray(ids.map(({ id }) => id)),
  ]);
  return rows.map((row) => fromVoucherRow(row));
}

/*
 * These two are not prepared by name. A session keeps the plan of a named statement, and one that was
 * made while the table was small may use another of its indexes, all of which begin with the project:
 * read through to the end for each voucher of each batch once the project is large.
 */

const FIND_VOUCHERS = `
  select name.position, ${VOUCHER_COLUMNS}
    from unnest($1::int4[], $2::text[], $3::text[], $4::text[])
         as name (position, project_id, code, folded_key)
   cross join lateral (
           select * from voucher
            where project_id = name.project_id and code_key = name.code
           union all
           select * from voucher
            where project_id = name.project_id and code_key = name.folded_key
           union all
           select * from voucher
            where starts_with(name.code, 'v_')
              and project_id = name.project_id and id = name.code
            limit 1
         ) v
   cross join lateral (
           select * from voucher_usage
            where project_id = v.project_id and voucher_id = v.id
            limit 1
         ) u
   where v.deleted_at is null`;

const FIND_VOUCHERS_BY_ID = `
  select ${VOUCHER_COLUMNS}
    from unnest($1::text[], $2::text[]) as name (project_id, id)
   cross join lateral (
           select * from voucher
            where project_id = name.project_id and id = name.id
            limit 1
         ) v
   cross join lateral (
           select * from voucher_usage
            where project_id = v.project_id and voucher_id = v.id
            limit 1
         ) u`;

export type NewVoucher = {
  readonly definition: VoucherDefinition;
  readonly codeKey: string;
  readonly quantity: bigint | null;
  /** Gift vouchers only: what the card is made with. */
  readonly amount: bigint | null;
};

/** Answers `code_taken` when the code is in use, also by a deleted voucher. */
export async function insertVoucher(
  db: Queryable,
  { definition, codeKey, quantity, amount }: NewVoucher,
): Promise<"inserted" | "code_taken"> {
  const { rows } = await db.query<{ inserted: number }>({
    name: "insert-voucher",
    text: INSERT_VOUCHER,
    values: [
      ...editableValues(definition),
      definition.code,
      codeKey,
      definition.type,
      definition.campaignId,
      definition.giftEffect,
      definition.loyaltyPoints,
      definition.assetId,
      definition.isReferralCode,
      definition.holderId,
      definition.referrerId,
      new Date(definition.createdAt),
      quantity,
      amount,
      definition.campaignName,
      definition.campaignType,
      definition.activityDuration,
    ],
  });
  return rows[0]?.inserted === 1 ? "inserted" : "code_taken";
}

const INSERT_VOUCHER = `
  with made as (
    insert into voucher (project_id, id, definition_version, updated_at, category_id, discount,
           start_date, expiration_date, validity_timeframe, validity_day_of_week, validity_hours,
           active, additional_info, metadata, code, code_key, type, campaign_id, gift_effect,
           loyalty_points, asset_id, is_referral_code, holder_id, referrer_id, created_at,
           campaign_name, campaign_type, activity_duration)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
           $20, $21, $22, $23, $24, $25, $28, $29, $30)
        on conflict (project_id, code_key) do nothing
    returning project_id, id, definition_version, created_at
  ), usage as (
    insert into voucher_usage (project_id, voucher_id, definition_version, quantity, amount,
           balance, ledger_version)
    select project_id, id, definition_version, $26::int8, $27::int8, $27::int8,
           case when $27::int8 > 0 then 1 else 0 end
      from made
  ), ledger as (
    insert into voucher_ledger_entry (project_id, voucher_id, version, amount, balance_after,
           created_at)
    select project_id, id, 1, $27::int8, $27::int8, created_at from made where $27::int8 > 0
  )
  select count(*)::int4 as inserted from made`;

/** The usage of a voucher that was just made. */
export const newUsage = ({ definition, quantity, amount }: NewVoucher): VoucherUsage => ({
  projectId: definition.projectId,
  voucherId: definition.id,
  definitionVersion: definition.version,
  deleted: false,
  quantity,
  redeemedQuantity: 0n,
  amount,
  balance: amount,
  redeemedAmount: 0n,
  reserved: false,
  version: 0n,
  ledgerVersion: amount === null || amount === 0n ? 0n : 1n,
});

/**
 * Writes what an edit may change, and the version that makes decisions on the old definition stale.
 * The usage must be locked.
 */
export async function updateVoucher(
  tx: Queryable,
  definition: VoucherDefinition,
  quantity: bigint | null,
): Promise<void> {
  // Not prepared by name, like the lookups above.
  await tx.query(
    `update voucher
              set definition_version = $3, updated_at = $4, category_id = $5, discount = $6,
                  start_date = $7, expiration_date = $8, validity_timeframe = $9,
                  validity_day_of_week = $10, validity_hours = $11, active = $12,
                  additional_info = $13, metadata = $14
            where project_id = $1 and id = $2`,
    editableValues(definition),
  );
  await tx.query({
    name: "update-usage-definition",
    text: `update voucher_usage
              set definition_version = $3, quantity = $4, version = version + 1,
                  -- What sessions hold may begin to matter with a limit.
                  reserved = reserved or quantity is distinct from $4
            where project_id = $1 and voucher_id = $2`,
    values: [definition.projectId, definition.id, definition.version, quantity],
  });
}

/** Hides a voucher from everything. Its code stays reserved unless it is freed. */
export async function deleteVoucher(
  tx: Queryable,
  definition: VoucherDefinition,
  change: { readonly at: number; readonly freesCode: boolean },
): Promise<void> {
  const { projectId, id } = definition;
  await tx.query(
    `update voucher
        set deleted_at = $3, definition_version = definition_version + 1,
            code_key = case when $4 then null else code_key end
      where project_id = $1 and id = $2`,
    [projectId, id, new Date(change.at), change.freesCode],
  );
  await tx.query(
    `update voucher_usage
        set deleted = true, definition_version = definition_version + 1, version = version + 1
      where project_id = $1 and voucher_id = $2`,
    [projectId, id],
  );
}

/** Gives the code of a deleted voucher free; answers whether there was one. */
export async function freeCode(tx: Queryable, name: VoucherName): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update voucher
        set code_key = null
      where project_id = $1 and deleted_at is not null
        and (code_key in ($2, $3) or (id = $2 and code_key is not null))`,
    [name.projectId, name.code, foldedKeyOf(name.code)],
  );
  return rowCount !== 0;
}

/** Project, id and version first, then the columns of `updateVoucher` in their order. */
function editableValues(definition: VoucherDefinition): unknown[] {
  const { validity } = definition;
  return [
    definition.projectId,
    definition.id,
    definition.version,
    toDate(definition.updatedAt),
    definition.categoryId,
    definition.discount === null ? null : JSON.stringify(toDiscountJson(definition.discount)),
    toDate(validity.startDate),
    toDate(validity.expirationDate),
    validity.timeframe === null ? null : JSON.stringify(validity.timeframe),
    validity.daysOfWeek,
    validity.hours === null ? null : JSON.stringify(toHoursJson(validity.hours)),
    definition.active,
    definition.additionalInfo,
    JSON.stringify(definition.metadata),
  ];
}

const toDate = (instant: number | null): Date | null =>
  instant === null ? null : new Date(instant);

export function fromVoucherRow(row: VoucherRow): StoredVoucher {
  const usage = fromUsageRow(row);
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
      discount: row.discount && fromDiscountJson(row.discount),
      giftEffect: row.gift_effect,
      loyaltyPoints: row.loyalty_points,
      validity: {
        startDate: row.start_date?.getTime() ?? null,
        expirationDate: row.expiration_date?.getTime() ?? null,
        timeframe: row.validity_timeframe,
        daysOfWeek: row.validity_day_of_week,
        hours: row.validity_hours && fromHoursJson(row.validity_hours),
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

export const toHoursJson = ({ daily }: Hours): HoursJson => ({
  daily: daily.map((entry) => ({
    start_time: entry.startTime,
    expiration_time: entry.expirationTime,
    days_of_week: [...entry.daysOfWeek],
  })),
});

const fromHoursJson = ({ daily }: HoursJson): Hours => ({
  daily: daily.map((entry) => ({
    startTime: entry.start_time,
    expirationTime: entry.expiration_time,
    daysOfWeek: entry.days_of_week,
  })),
});
