import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  rowKeyPart,
  rowOf,
} from "@scrip/postgres";

import type { VoucherUsage } from "../domain/usage.ts";
import { exactKeyOf, foldedKeyOf, type VoucherDefinition } from "../domain/voucher.ts";
import { discountToJson } from "./discount-json.ts";
import { hoursToJson } from "./voucher-rows.ts";
import type { VoucherLookup } from "./vouchers.ts";

export type NewVoucher = {
  readonly definition: VoucherDefinition;
  readonly codeKey: string;
  readonly quantity: bigint | null;
  /** Gift vouchers only: the initial amount. */
  readonly amount: bigint | null;
};

/** A voucher from another system, with what it was used for there. */
export type ImportedVoucher = NewVoucher & {
  readonly redeemedQuantity: bigint;
  /** Gift vouchers only: at most the amount. */
  readonly redeemedAmount: bigint;
};

/** Returns `code_taken` when the code is in use, also by a deleted voucher. */
export async function insertVoucher(
  db: Queryable,
  voucher: NewVoucher,
): Promise<"inserted" | "code_taken"> {
  const { rows } = await db.query<{ inserted: number }>(
    insertStatement({
      identity: { ...voucher.definition, codeKey: voucher.codeKey },
      permanent: voucher.definition,
      editable: voucher.definition,
      usage: voucher,
    }),
  );
  return rows[0]?.inserted === 1 ? "inserted" : "code_taken";
}

/** A voucher without what identifies it: what all vouchers of a batch share. */
export type VoucherTerms = Omit<VoucherDefinition, "id" | "code" | "assetId">;

/** What an edit may change. */
export const editableColumns: ColumnTable<VoucherTerms> = {
  definition_version: column.int8(({ version }) => version),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
  category_id: column.text(({ categoryId }) => categoryId),
  discount: column.json(({ discount }) => discount && JSON.stringify(discountToJson(discount))),
  start_date: column.timestamp(({ validity }) => validity.startDate),
  expiration_date: column.timestamp(({ validity }) => validity.expirationDate),
  validity_timeframe: column.json(
    ({ validity }) => validity.timeframe && JSON.stringify(validity.timeframe),
  ),
  validity_day_of_week: column.single("smallint[]", ({ validity }) => validity.daysOfWeek),
  validity_hours: column.json(
    ({ validity }) => validity.hours && JSON.stringify(hoursToJson(validity.hours)),
  ),
  active: column.single("bool", ({ active }) => active),
  additional_info: column.text(({ additionalInfo }) => additionalInfo),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
};

/** Columns that edits never change. */
export const permanentColumns: ColumnTable<VoucherTerms> = {
  project_id: column.text(({ projectId }) => projectId),
  type: column.text(({ type }) => type),
  campaign_id: column.text(({ campaignId }) => campaignId),
  campaign_name: column.text(({ campaignName }) => campaignName),
  campaign_type: column.text(({ campaignType }) => campaignType),
  activity_duration: column.text(({ activityDuration }) => activityDuration),
  gift_effect: column.text(({ giftEffect }) => giftEffect),
  loyalty_points: column.int8(({ loyaltyPoints }) => loyaltyPoints),
  is_referral_code: column.bool(({ isReferralCode }) => isReferralCode),
  holder_id: column.text(({ holderId }) => holderId),
  referrer_id: column.text(({ referrerId }) => referrerId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

/** What identifies a voucher. */
export type VoucherIdentity = Pick<VoucherDefinition, "id" | "code" | "assetId"> & {
  readonly codeKey: string;
};

export const identityColumns: ColumnTable<VoucherIdentity> = {
  id: column.text(({ id }) => id),
  code: column.text(({ code }) => code),
  code_key: column.text(({ codeKey }) => codeKey),
  asset_id: column.text(({ assetId }) => assetId),
};

const insertStatement = buildStatement({
  name: "insert-voucher",
  parts: {
    identity: rowOf(identityColumns),
    permanent: rowOf(permanentColumns),
    editable: rowOf(editableColumns),
    usage: rowOf<NewVoucher>({
      quantity: column.int8(({ quantity }) => quantity),
      amount: column.int8(({ amount }) => amount),
    }),
  },
  text: ({ identity, permanent, editable, usage }) => `
    with inserted as (
      insert into voucher (${identity.columns}, ${permanent.columns}, ${editable.columns})
      values (${identity.values}, ${permanent.values}, ${editable.values})
          on conflict (project_id, code_key) do nothing
      returning project_id, id, campaign_id, definition_version, created_at
    ), usage as (
      insert into voucher_usage (project_id, voucher_id, definition_version, quantity, amount,
             balance, ledger_version)
      select project_id, id, definition_version, ${usage.value("quantity")},
             ${usage.value("amount")}, ${usage.value("amount")},
             case when ${usage.value("amount")} > 0 then 1 else 0 end
        from inserted
    ), ledger as (
      insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
             balance_after, created_at)
      select project_id, id, campaign_id, 1, ${usage.value("amount")}, ${usage.value("amount")}, created_at
        from inserted
       where ${usage.value("amount")} > 0
    )
    select count(*)::int4 as inserted from inserted`,
});

/** Types without binary arrays travel as text. */
const BATCH_CASTS: Readonly<Record<string, string>> = {
  active: "bool",
  validity_day_of_week: "smallint[]",
};

const withCast = (name: string): string =>
  BATCH_CASTS[name] === undefined ? name : `${name}::${BATCH_CASTS[name]}`;

const withCasts = (columns: string): string => columns.split(", ").map(withCast).join(", ");

const insertManyStatement = buildStatement({
  name: "insert-vouchers",
  parts: {
    vouchers: batchOf<VoucherTerms & VoucherIdentity>({
      ...identityColumns,
      ...permanentColumns,
      ...editableColumns,
      active: column.text(({ active }) => (active === null ? null : String(active))),
      validity_day_of_week: column.sparseText(({ validity: { daysOfWeek } }) =>
        daysOfWeek === null ? null : `{${daysOfWeek.join(",")}}`,
      ),
    }),
    usages: batchOf<ImportedVoucher>({
      voucher_id: column.text(({ definition }) => definition.id),
      quantity: column.int8(({ quantity }) => quantity),
      amount: column.int8(({ amount }) => amount),
      redeemed_quantity: column.int8(({ redeemedQuantity }) => redeemedQuantity),
      redeemed_amount: column.int8(({ redeemedAmount }) => redeemedAmount),
    }),
  },
  text: ({ vouchers, usages }) => `
    with inserted as (
      insert into voucher (${vouchers.columns})
      select ${withCasts(vouchers.columns)} from ${vouchers.rows("v")}
          on conflict (project_id, code_key) do nothing
      returning project_id, id, campaign_id, definition_version, created_at
    ), used as (
      select i.*, u.quantity, u.amount, u.redeemed_quantity, u.redeemed_amount,
             u.amount - u.redeemed_amount as balance
        from inserted i
        join ${usages.rows("u")} on u.voucher_id = i.id
    ), usage as (
      insert into voucher_usage (project_id, voucher_id, definition_version, quantity, redeemed_quantity,
             amount, balance, redeemed_amount, ledger_version)
      select project_id, id, definition_version, quantity, redeemed_quantity, amount, balance,
             redeemed_amount, case when balance > 0 then 1 else 0 end
        from used
    ), ledger as (
      insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
             balance_after, total_after, created_at)
      select project_id, id, campaign_id, 1, balance, balance, amount, created_at
        from used
       where balance > 0
    ), imported as (
      insert into imported_usage (project_id, voucher_id, redeemed_quantity, redeemed_amount)
      select project_id, id, redeemed_quantity, redeemed_amount
        from used
       where redeemed_quantity > 0 or redeemed_amount > 0
    )
    select id from inserted`,
});

/** Inserts those vouchers whose codes are free, in one statement; returns their ids. Repeated codes: the first wins. */
export async function insertVouchers(
  db: Queryable,
  vouchers: readonly ImportedVoucher[],
): Promise<ReadonlySet<string>> {
  if (vouchers.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    insertManyStatement({
      vouchers: vouchers.map(({ definition, codeKey }) => ({ ...definition, codeKey })),
      usages: vouchers,
    }),
  );
  return new Set(rows.map(({ id }) => id));
}

const updateStatement = buildStatement({
  parts: {
    key: rowKeyPart,
    editable: rowOf(editableColumns),
  },
  text: ({ key, editable }) => `
    update voucher
       set ${editable.assignments}
     where ${key.condition}`,
});

/** The usage of a new voucher. */
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
 * Writes the editable columns, and the version that makes decisions on the old definition stale. The usage must be
 * locked.
 */
export async function updateVoucher(
  tx: Queryable,
  definition: VoucherDefinition,
  quantity: bigint | null,
): Promise<void> {
  await tx.query(updateStatement({ key: definition, editable: definition }));
  await tx.query({
    name: "update-usage-definition",
    planning: "indexLookups",
    text: `update voucher_usage
              set definition_version = $3, quantity = $4, version = version + 1,
                  -- A new limit can make existing session locks relevant.
                  reserved = reserved or quantity is distinct from $4
            where project_id = $1 and voucher_id = $2`,
    values: [definition.projectId, definition.id, definition.version, quantity],
  });
}

/** Marks a voucher as deleted. Its code stays reserved unless it is freed. */
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

/** Frees the code of a deleted voucher; returns its id, or undefined if there was none. */
export async function freeCode(tx: Queryable, name: VoucherLookup): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    `update voucher
        set code_key = null
      where project_id = $1 and deleted_at is not null
        and (code_key in ($2, $3) or (id = $2 and code_key is not null))
     returning id`,
    [name.projectId, exactKeyOf(name.code), foldedKeyOf(name.code)],
  );
  return rows[0]?.id;
}
