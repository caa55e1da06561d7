import type { Queryable } from "@scrip/postgres";

/**
 * How many rows and index entries of a table were read so far, for tests of how a lookup finds what it
 * looks for. The database must have one connection: others tell what they read later.
 */
export async function entriesRead(db: Queryable, table: string): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query<{ read: bigint }>(
    `select coalesce(sum(seq_tup_read), 0)::int8
            + (select sum(idx_tup_read)::int8 from pg_stat_user_indexes where relname = $1) as read
       from pg_stat_user_tables
      where relname = $1`,
    [table],
  );
  return Number(rows[0]?.read);
}
