import type { Queryable } from "@scrip/postgres";

/**
 * The number of rows and index entries of a table read so far, for tests of lookups. The database
 * must have one connection: others report their reads later.
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

/**
 * The number of pages of all tables and indexes read so far, from memory or disk. A full index scan
 * counts all pages of the index. The database must have one connection.
 */
export async function pagesRead(db: Queryable): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query<{ read: bigint }>(
    `select sum(heap_blks_read + heap_blks_hit
                + coalesce(idx_blks_read + idx_blks_hit, 0))::int8 as read
       from pg_statio_user_tables`,
  );
  return Number(rows[0]?.read);
}
