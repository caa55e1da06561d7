import type { FilterFields } from "@scrip/filters";
import type { Queryable } from "@scrip/postgres";

/** One change of the credits of a gift voucher. */
export type GiftEntry = {
  readonly id: string;
  readonly amount: bigint;
  readonly balanceAfter: bigint;
  readonly redemptionId: string | null;
  /** Only for credits that a rollback gave back. */
  readonly rollbackId: string | null;
  readonly createdAt: Date;
};

type GiftEntryRow = {
  id: string;
  amount: bigint;
  balance_after: bigint;
  redemption_id: string | null;
  rollback_id: string | null;
  created_at: Date;
};

/** Entries have no id of their own: it is made of the voucher and the version, and sorts by the version. */
const ID = `('vtx_' || substr(l.voucher_id, 3) || lpad(to_hex(l.version), 8, '0'))`;

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
    `select ${ID} as id, l.amount, l.balance_after, l.redemption_id, b.id as rollback_id, l.created_at
       from voucher_ledger_entry l
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
    createdAt: row.created_at,
  }));
}
