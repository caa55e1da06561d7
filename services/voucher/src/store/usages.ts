import { type Queryable, textArray } from "@scrip/postgres";

import type { VoucherUsage } from "../domain/usage.ts";

export type UsageRow = {
  project_id: string;
  voucher_id: string;
  definition_version: bigint;
  deleted: boolean;
  quantity: bigint | null;
  redeemed_quantity: bigint;
  amount: bigint | null;
  balance: bigint | null;
  redeemed_amount: bigint;
  reserved: boolean;
  version: bigint;
  ledger_version: bigint;
};

/** Of `voucher_usage u`. */
export const USAGE_COLUMNS = `u.project_id, u.voucher_id, u.definition_version, u.deleted, u.quantity,
  u.redeemed_quantity, u.amount, u.balance, u.redeemed_amount, u.reserved, u.version,
  u.ledger_version`;

export type UsageKey = { readonly projectId: string; readonly voucherId: string };

/**
 * Locks the rows until the transaction ends. Everybody locks in the order of project and voucher, so that batches that
 * share vouchers wait for each other and never deadlock: `names` must be sorted by `sortUsageKeys`, and a nested loop
 * locks in the order of its outer side.
 */
export const lockUsages = (
  tx: Queryable,
  names: readonly UsageKey[],
): Promise<readonly VoucherUsage[]> =>
  selectUsages(tx, names, { name: "lock-usages", lock: "for no key update" });

/** Locks the rows that are free and skips the others. */
export const lockFreeUsages = (
  tx: Queryable,
  names: readonly UsageKey[],
): Promise<readonly VoucherUsage[]> =>
  selectUsages(tx, names, { name: "lock-free-usages", lock: "for no key update skip locked" });

/** Sorts by project and voucher without duplicates: the order in which everybody locks. */
export function sortUsageKeys(names: Iterable<UsageKey>): UsageKey[] {
  const byKey = new Map<string, UsageKey>();
  for (const name of names) byKey.set(`${name.projectId}\n${name.voucherId}`, name);
  const keys = [...byKey.keys()].toSorted();
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

/** Reads without locking. */
export const findUsages = (
  db: Queryable,
  names: readonly UsageKey[],
): Promise<readonly VoucherUsage[]> => selectUsages(db, names, { name: "find-usages", lock: "" });

async function selectUsages(
  db: Queryable,
  names: readonly UsageKey[],
  { name, lock }: { readonly name: string; readonly lock: string },
): Promise<readonly VoucherUsage[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<UsageRow>({
    name,
    planning: "indexLookups",
    text: `select ${USAGE_COLUMNS}
             from unnest($1::text[], $2::text[]) as name (project_id, voucher_id)
            cross join lateral (
                    select * from voucher_usage
                     where project_id = name.project_id and voucher_id = name.voucher_id
                     limit 1
                       ${lock}
                  ) u`,
    values: [
      textArray(names.map(({ projectId }) => projectId)),
      textArray(names.map(({ voucherId }) => voucherId)),
    ],
  });
  return rows.map((row) => usageFromRow(row));
}

export function usageFromRow(row: UsageRow): VoucherUsage {
  return {
    projectId: row.project_id,
    voucherId: row.voucher_id,
    definitionVersion: row.definition_version,
    deleted: row.deleted,
    quantity: row.quantity,
    redeemedQuantity: row.redeemed_quantity,
    amount: row.amount,
    balance: row.balance,
    redeemedAmount: row.redeemed_amount,
    reserved: row.reserved,
    version: row.version,
    ledgerVersion: row.ledger_version,
  };
}
