import type { FilterFields } from "@scrip/filters";
import type { Queryable } from "@scrip/postgres";

import type { GiftUsage } from "../domain/usage.ts";

/** One change of the credits of a gift voucher. */
export type GiftEntry = {
  readonly id: string;
  readonly amount: bigint;
  readonly balanceAfter: bigint;
  readonly redemptionId: string | null;
  /** Only for credits that a rollback gave back. */
  readonly rollbackId: string | null;
  /** The amount of the voucher right after. */
  readonly totalAfter: bigint;
  /** Adjustments only. */
  readonly source: string | null;
  readonly sourceId: string | null;
  readonly reason: string | null;
  readonly createdAt: Date;
};

type GiftEntryRow = {
  id: string;
  amount: bigint;
  balance_after: bigint;
  total_after: bigint;
  source: string | null;
  source_id: string | null;
  reason: string | null;
  redemption_id: string | null;
  rollback_id: string | null;
  created_at: Date;
};

/** Entries have no id of their own: it is made of the voucher and the version, and sorts by the version. */
const ID = `('vtx_' || substr(l.voucher_id, 3) || lpad(to_hex(l.version), 8, '0'))`;

/** The same id, for an entry that is written. */
export const giftEntryId = (voucherId: string, version: bigint): string =>
  `vtx_${voucherId.slice(2)}${version.toString(16).padStart(8, "0")}`;

/**
 * Redemptions and rollbacks store the amount of the voucher; creation and campaign updates write entries of vouchers
 * that nothing was redeemed of, whose amount is their balance.
 */
const TOTAL_AFTER = "coalesce(l.total_after, b.amount_after, r.amount_after, l.balance_after)";

export const giftEntryFilters: FilterFields = {
  named: {
    id: { type: "text", sql: ID },
    created_at: { type: "date", sql: "l.created_at" },
  },
};

export type GiftEntryListing = {
  /** Over `voucher_ledger_entry l`, all of which must hold. */
  readonly conditions: readonly string[];
  /** The project and the voucher, and the values of the conditions. */
  readonly values: readonly unknown[];
  readonly descending: boolean;
  /** The last id of the previous page. */
  readonly after: string | null;
  readonly limit: number;
};

/** A page of the ledger of a gift voucher. */
export async function listGiftEntries(
  db: Queryable,
  { conditions, values, descending, after, limit }: GiftEntryListing,
): Promise<readonly GiftEntry[]> {
  const position = `${ID} collate "C" ${descending ? "<" : ">"} $${values.length + 1}`;
  const { rows } = await db.query<GiftEntryRow>(
    `select ${ID} as id, l.amount, l.balance_after, ${TOTAL_AFTER} as total_after, l.redemption_id,
            b.id as rollback_id, l.source, l.source_id, l.reason, l.created_at
       from voucher_ledger_entry l
       left join redemption r on r.project_id = l.project_id and r.id = l.redemption_id
       left join redemption_rollback b
         on b.project_id = l.project_id and b.redemption_id = l.redemption_id
        and b.status = 'SUCCEEDED' and l.amount > 0
      where ${["l.project_id = $1", "l.voucher_id = $2", ...conditions].join(" and ")}
            ${after === null ? "" : `and ${position}`}
      order by l.version ${descending ? "desc" : "asc"}
      limit ${limit}`,
    after === null ? values : [...values, after],
  );
  return rows.map((row) => ({
    id: row.id,
    amount: row.amount,
    balanceAfter: row.balance_after,
    redemptionId: row.redemption_id,
    rollbackId: row.rollback_id,
    totalAfter: row.total_after,
    source: row.source,
    sourceId: row.source_id,
    reason: row.reason,
    createdAt: row.created_at,
  }));
}

export type GiftAdjustment = {
  /** The usage after the adjustment. */
  readonly usage: GiftUsage;
  readonly change: bigint;
  readonly source: string;
  readonly sourceId: string | null;
  readonly reason: string | null;
  readonly at: number;
};

/** Writes an adjusted usage and its ledger entry. The usage must be locked. */
export async function writeAdjustment(
  tx: Queryable,
  { usage, change, source, sourceId, reason, at }: GiftAdjustment,
): Promise<void> {
  await tx.query(
    `with usage as (
       update voucher_usage
          set amount = $3, balance = $4, version = $5, ledger_version = $6
        where project_id = $1 and voucher_id = $2
       returning project_id, voucher_id, ledger_version, balance, amount
     )
     insert into voucher_ledger_entry (project_id, voucher_id, version, amount, balance_after,
            total_after, source, source_id, reason, created_at)
     select project_id, voucher_id, ledger_version, $7, balance, amount, $8, $9, $10, $11
       from usage`,
    [
      usage.projectId,
      usage.voucherId,
      usage.amount,
      usage.balance,
      usage.version,
      usage.ledgerVersion,
      change,
      source,
      sourceId,
      reason,
      new Date(at),
    ],
  );
}
