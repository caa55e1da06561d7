import type { FilterFields } from "@scrip/filters";
import type { ProjectQueryable, Queryable } from "@scrip/postgres";

import type { GiftUsage } from "../domain/usage.ts";

/** One change of the credits of a gift voucher. */
export type GiftEntry = {
  readonly id: string;
  readonly voucherId: string;
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
  voucher_id: string;
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

const ID_PREFIX = "vtx_";
/** Characters of a voucher's id behind its prefix. */
const OPAQUE_LENGTH = 18;

/** Entries have no id of their own: it is made of the voucher and the version, and sorts by both. */
const ID = `('${ID_PREFIX}' || substr(l.voucher_id, 3) || lpad(to_hex(l.version), 8, '0'))`;

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

/** The filters of a whole campaign. */
export const campaignGiftEntryFilters: FilterFields = {
  named: { ...giftEntryFilters.named, voucher_id: { type: "text", sql: "l.voucher_id" } },
};

export type GiftEntryListing = {
  readonly projectId: string;
  readonly of: "voucher" | "campaign";
  /** Over `voucher_ledger_entry l`, all of which must hold. */
  readonly conditions: readonly string[];
  /** The project and the voucher or campaign, and the values of the conditions. */
  readonly values: readonly unknown[];
  readonly descending: boolean;
  /** The last id of the previous page. */
  readonly after: string | null;
  readonly limit: number;
};

const SCOPES = {
  voucher: { join: "", condition: "l.voucher_id = $2", order: ["l.version"] },
  // The vouchers are read in the order of their index, so that a page does not read the whole campaign.
  campaign: {
    join: "join voucher v on v.project_id = l.project_id and v.id = l.voucher_id",
    condition: "v.project_id = $1 and v.campaign_id = $2",
    order: ["v.id", "l.version"],
  },
} as const;

/** A page of the ledger of a gift voucher, or of all gift vouchers of a campaign. */
export async function listGiftEntries(
  db: ProjectQueryable,
  { projectId, of, conditions, values, descending, after, limit }: GiftEntryListing,
): Promise<readonly GiftEntry[]> {
  const { join, condition, order } = SCOPES[of];
  const direction = descending ? "desc" : "asc";
  const where = ["l.project_id = $1", condition, ...conditions];
  const allValues = [...values];
  if (after !== null) {
    allValues.push(after);
    where.push(`${ID} collate "C" ${descending ? "<" : ">"} $${allValues.length}`);
  }
  // Implied by the position, in a form that the index of the campaign's vouchers can use.
  if (after?.startsWith(ID_PREFIX) === true && of === "campaign") {
    allValues.push(`v_${after.slice(ID_PREFIX.length, ID_PREFIX.length + OPAQUE_LENGTH)}`);
    where.push(`v.id ${descending ? "<=" : ">="} $${allValues.length}`);
  }
  const { rows } = await db.inProject(projectId).query<GiftEntryRow>(
    `select ${ID} as id, l.voucher_id, l.amount, l.balance_after, ${TOTAL_AFTER} as total_after,
            l.redemption_id, b.id as rollback_id, l.source, l.source_id, l.reason, l.created_at
       from voucher_ledger_entry l
       ${join}
       left join redemption r on r.project_id = l.project_id and r.id = l.redemption_id
       left join redemption_rollback b
         on b.project_id = l.project_id and b.redemption_id = l.redemption_id
        and b.status = 'SUCCEEDED' and l.amount > 0
      where ${where.join(" and ")}
      order by ${order.map((column) => `${column} ${direction}`).join(", ")}
      limit ${limit}`,
    allValues,
  );
  return rows.map((row) => ({
    id: row.id,
    voucherId: row.voucher_id,
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
