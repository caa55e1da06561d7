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

const TIME_BITS = 48;

/**
 * SQL: the id of `voucher_ledger_entry l`. Entries have no id of their own: it is made of the time in milliseconds, the
 * voucher and the version, and sorts by them. Times before 1970, which only sandbox clocks show, are in two's complement.
 */
export const GIFT_ENTRY_ID = `('vtx_' || lpad(to_hex((extract(epoch from l.created_at) * 1000)::int8 & ${2 ** TIME_BITS - 1}), 12, '0')
  || substr(l.voucher_id, 3) || lpad(to_hex(l.version), 8, '0'))`;

type Position = { readonly at: number; readonly voucherId: string; readonly version: bigint };

const hex = (value: bigint, length: number): string => value.toString(16).padStart(length, "0");

/** The end of the year 9999; larger numbers are negative ones. */
const MAX_TIME = 253_402_300_799_999;

const timeOf = (digits: string): number => {
  const value = Number.parseInt(digits, 16);
  return value > MAX_TIME ? value - 2 ** TIME_BITS : value;
};

/** The same id, for an entry that is written. */
export const giftEntryId = ({ at, voucherId, version }: Position): string =>
  `vtx_${hex(BigInt.asUintN(TIME_BITS, BigInt(at)), 12)}${voucherId.slice(2)}${hex(version, 8)}`;

const ID_FORMAT = /^vtx_([0-9a-f]{12})([0-9a-z]{18})([0-9a-f]{8})$/;

/** What an id is made of; undefined for a text that is not one. */
function positionOf(id: string): Position | undefined {
  const [, at, opaque, version] = ID_FORMAT.exec(id) ?? [];
  if (at === undefined || opaque === undefined || version === undefined) return undefined;
  return {
    at: timeOf(at),
    voucherId: `v_${opaque}`,
    version: BigInt(`0x${version}`),
  };
}

/**
 * Redemptions and rollbacks store the amount of the voucher; creation and campaign updates write entries of vouchers
 * that nothing was redeemed of, whose amount is their balance.
 */
export const TOTAL_AFTER =
  "coalesce(l.total_after, b.amount_after, r.amount_after, l.balance_after)";

/** SQL: the redemption and rollback of an entry. */
export const REDEMPTION_OF_ENTRY = `
       left join redemption r on r.project_id = l.project_id and r.id = l.redemption_id
       left join redemption_rollback b
         on b.project_id = l.project_id and b.redemption_id = l.redemption_id
        and b.status = 'SUCCEEDED' and l.amount > 0`;

export const giftEntryFilters: FilterFields = {
  named: {
    id: { type: "text", sql: GIFT_ENTRY_ID },
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

/** By time, in the order of an index. Versions show the order even when the clocks of two processes differ. */
const SCOPES = {
  voucher: {
    condition: "l.voucher_id = $2",
    order: ["l.version"],
    valuesOf: ({ version }: Position) => [version],
  },
  campaign: {
    condition: "l.campaign_id = $2",
    order: ["l.created_at", "l.voucher_id", "l.version"],
    valuesOf: ({ at, voucherId, version }: Position) => [new Date(at), voucherId, version],
  },
} as const;

/** A page of the ledger of a gift voucher, or of all gift vouchers of a campaign. */
export async function listGiftEntries(
  db: ProjectQueryable,
  { projectId, of, conditions, values, descending, after, limit }: GiftEntryListing,
): Promise<readonly GiftEntry[]> {
  const { condition, order, valuesOf } = SCOPES[of];
  const direction = descending ? "desc" : "asc";
  const where = ["l.project_id = $1", condition, ...conditions];
  const allValues = [...values];
  if (after !== null) {
    const position = positionOf(after);
    const [columns, cursor] =
      position === undefined
        ? [`${GIFT_ENTRY_ID} collate "C"`, [after]]
        : [order.join(", "), valuesOf(position)];
    const parameters = cursor.map((value) => `$${allValues.push(value)}`).join(", ");
    where.push(`(${columns}) ${descending ? "<" : ">"} (${parameters})`);
  }
  const sorted = order.map((column) => `${column} ${direction}`).join(", ");
  // The page is read before its redemptions are looked up.
  const { rows } = await db.inProject(projectId).query<GiftEntryRow>(
    `select ${GIFT_ENTRY_ID} as id, l.voucher_id, l.amount, l.balance_after, ${TOTAL_AFTER} as total_after,
            l.redemption_id, b.id as rollback_id, l.source, l.source_id, l.reason, l.created_at
       from (select * from voucher_ledger_entry l
              where ${where.join(" and ")}
              order by ${sorted}
              limit ${limit}) l ${REDEMPTION_OF_ENTRY}
      order by ${sorted}`,
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
     insert into voucher_ledger_entry (project_id, voucher_id, campaign_id, version, amount,
            balance_after, total_after, source, source_id, reason, created_at)
     select u.project_id, u.voucher_id, v.campaign_id, u.ledger_version, $7, u.balance, u.amount,
            $8, $9, $10, $11
       from usage u
       join voucher v on v.project_id = u.project_id and v.id = u.voucher_id`,
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
