import type { Queryable } from "./queryable.ts";

/**
 * Whether texts of the database sort by their bytes, so that its indexes have those with a common beginning next to each
 * other. Other locales sort by language, and an index with a collation of its own would serve no other lookup.
 */
export async function sortsByBytes(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ bytewise: boolean }>(
    `select datlocprovider = 'b' or (datlocprovider = 'c' and datcollate in ('C', 'POSIX')) as bytewise
       from pg_database
      where datname = current_database()`,
  );
  return rows[0]?.bytewise ?? false;
}
