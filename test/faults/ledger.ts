import type { Client } from "pg";

/** The oldest `entries` of the ledger, all by default, with the hash of what they say. */
export async function ledgerHash(
  database: Client,
  entries?: number,
): Promise<{ readonly entries: number; readonly hash: string }> {
  const { rows } = await database.query<{ entries: number; hash: string }>(
    `select count(*)::int as entries, md5(string_agg(line, '\n' order by line)) as hash
       from (select concat_ws(' ', card_id, version, type, points, balance_after, cause) as line
               from loyalty.ledger_entry order by id limit $1) as oldest`,
    [entries ?? null],
  );
  return rows[0] ?? { entries: 0, hash: "" };
}

export async function countEntries(database: Client): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    "select count(*)::int as count from loyalty.ledger_entry",
  );
  return rows[0]?.count ?? 0;
}
