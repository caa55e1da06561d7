import { Client } from "pg";

/** Adds to each table of each schema what a later release may add, and records its migrations. */
export async function applyLaterRelease(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(EXPAND);
  } finally {
    await client.end();
  }
}

const EXPAND = `
  do $$
  declare
    part regnamespace;
    changed regclass;
  begin
    for part in select relnamespace from pg_class where relname = 'migration' loop
      for changed in
        select oid from pg_class
         where relnamespace = part and relkind in ('r', 'p') and not relispartition
           and relname not in ('migration', 'write_check')
      loop
        execute format('alter table %s add column later_note text, add column later_count bigint not null default 0', changed);
        execute format('create index on %s (later_count)', changed);
      end loop;
      execute format('create table %s.later (project_id text primary key)', part);
      execute format('insert into %s.migration (name, sha256) values (%L, %L)', part, '9998_later.sql', '');
      execute format('insert into %s.migration (name, sha256, contract) values (%L, %L, %L)', part, '9999_later.sql', '', '0001');
    end loop;
  end $$`;
