import type { Queryable } from "@scrip/postgres";

import type { VoucherUsage } from "../domain/usage.ts";
import { foldedKeyOf, type VoucherDefinition } from "../domain/voucher.ts";
import { toDiscountJson } from "./discount-json.ts";
import { toHoursJson } from "./voucher-rows.ts";
import type { VoucherName } from "./vouchers.ts";

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
  // Not prepared by name: see `findVouchers`.
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
