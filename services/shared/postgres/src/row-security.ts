import type { Client } from "pg";

import { isLockTimeout } from "./errors.ts";
import { retryLockTimeout } from "./lock-retry.ts";
import { MigrationError } from "./migration-error.ts";
import { PROJECT_SETTING, tenantRoleOf } from "./tenant-role.ts";

type Target = { readonly schema: string; readonly role: string };

/** Policy of all other roles, which see what their grants permit. Its constant condition costs nothing in a plan. */
const ALL_ROWS = "all_rows";
/** Additional policy of the tenant role. */
const ROWS_OF_PROJECT = "rows_of_project";

/**
 * Limits the tenant role of a service to the rows of one project, in each table with a `project_id`: the tables that
 * have no policies yet get them, each in a transaction of its own. The tenant role has no access to other tables, nor to
 * single partitions. It may read views named `…_of_project`, which apply the setting themselves.
 */
export async function protectTables(client: Client, { schema, role }: Target): Promise<void> {
  const tenant = tenantRoleOf(role);
  await client.query(`grant usage on schema ${schema} to ${tenant}`);
  for (const name of await listUnprotected(client, schema, tenant)) {
    const protect = (lockTimeoutMs: number) =>
      protectTable(client, { name, tenant, lockTimeoutMs });
    await retryLockTimeout(protect).catch((cause: unknown) => {
      if (!isLockTimeout(cause)) throw cause;
      const advice = "Repeat the migration when no export, dump or long statement uses it";
      throw new MigrationError(`Table ${name} is in use, so it got no policies. ${advice}`, {
        cause,
      });
    });
  }
  for (const name of await listViews(client, schema)) {
    await client.query(`grant select on ${name} to ${tenant}`);
  }
}

async function protectTable(
  client: Client,
  {
    name,
    tenant,
    lockTimeoutMs,
  }: { readonly name: string; readonly tenant: string; readonly lockTimeoutMs: number },
): Promise<void> {
  // One statement, and so one transaction.
  await client.query(
    `set local lock_timeout = ${lockTimeoutMs};
     alter table ${name} enable row level security;
     drop policy if exists ${ALL_ROWS} on ${name};
     drop policy if exists ${ROWS_OF_PROJECT} on ${name};
     create policy ${ALL_ROWS} on ${name} using (true);
     create policy ${ROWS_OF_PROJECT} on ${name} as restrictive to ${tenant}
            using (project_id = current_setting('${PROJECT_SETTING}', true));
     grant select on ${name} to ${tenant}`,
  );
}

const WITH_PROJECT = `
   exists (select from pg_attribute a
            where a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped)`;

async function listUnprotected(
  client: Client,
  schema: string,
  tenant: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', $1::text, c.relname) as name
       from pg_class c
      where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and ${WITH_PROJECT}
        and not (c.relrowsecurity
                 and exists (select from pg_policy p
                              where p.polrelid = c.oid and p.polname = '${ALL_ROWS}')
                 and exists (select from pg_policy p
                              where p.polrelid = c.oid and p.polname = '${ROWS_OF_PROJECT}'
                                and p.polroles = array[$2::regrole::oid])
                 and has_table_privilege($2, c.oid, 'select'))
      order by c.relname`,
    [schema, tenant],
  );
  return rows.map(({ name }) => name);
}

async function listViews(client: Client, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', $1::text, c.relname) as name
       from pg_class c
      where c.relnamespace = $1::regnamespace and c.relkind = 'v' and c.relname like '%\\_of\\_project' and ${WITH_PROJECT}
      order by c.relname`,
    [schema],
  );
  return rows.map(({ name }) => name);
}
