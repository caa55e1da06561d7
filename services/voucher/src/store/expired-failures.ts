import { timePart } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";

/** Failures have ids with a prefix of their own, followed by the time: the primary key finds the old ones. */
const PREFIXES = { redemption: "rf_", redemption_rollback: "rrf_" } as const;

export type Expiry = {
  readonly table: keyof typeof PREFIXES;
  /** Real time, in epoch milliseconds. */
  readonly before: number;
  readonly limit: number;
};

/**
 * Deletes a chunk of the failed redemptions or rollbacks created before a time, and returns their number. No other row
 * refers to them. Rows that a request has locked are left for the next run.
 */
export async function deleteFailures(
  db: Queryable,
  { table, before, limit }: Expiry,
): Promise<number> {
  const prefix = PREFIXES[table];
  const { rowCount } = await db.query(
    `delete from ${table}
      where ctid = any (array(
              select one.ctid
                from project p
               cross join lateral (
                       select ctid from ${table}
                        where project_id = p.project_id and id >= '${prefix}' and id < '${prefix}' || $1
                          and status = 'FAILED'
                        order by id
                        limit $2
                          for update skip locked
                     ) one
               limit $2))`,
    [timePart(before), limit],
  );
  return rowCount ?? 0;
}
