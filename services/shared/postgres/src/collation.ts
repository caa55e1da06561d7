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

/**
 * A collation of every schema that folds the letters of all scripts one by one, whatever the locale of the database: the one
 * that PostgreSQL 17 and later have, else that of the operating system, else that of ICU, else the locale of the database.
 */
export const CASELESS = "caseless";

/** SQL that creates it in the first schema of the search path. Part of every schema, as the table of migrations. */
export const CASELESS_COLLATION = `
  do $$
  declare source text;
  begin
    if exists (select from pg_collation
                where collname = '${CASELESS}' and collnamespace = current_schema()::regnamespace) then
      return;
    end if;
    select collname
      into source
      from pg_collation
     where collnamespace = 'pg_catalog'::regnamespace and collencoding in (-1, pg_char_to_encoding('UTF8'))
       and collname in ('pg_c_utf8', 'C.utf8', 'C.UTF-8', 'und-x-icu')
     order by array_position(array['pg_c_utf8', 'C.utf8', 'C.UTF-8', 'und-x-icu'], collname::text)
     limit 1;
    if source is not null then
      execute format('create collation ${CASELESS} from pg_catalog.%I', source);
    else
      execute format('create collation ${CASELESS} (provider = libc, locale = %L)',
                     (select datctype from pg_database where datname = current_database()));
    end if;
  end $$`;
