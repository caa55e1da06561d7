import { Logger, runMigrations } from "graphile-worker";
import { Client } from "pg";

/** The schema of graphile-worker, which creates and changes its tables itself. */
export const QUEUE_SCHEMA = "export_jobs";

const LOCK_TIMEOUT = "60s";

/** Failures are thrown. */
const SILENT = new Logger(() => () => {});

/** Installs or updates graphile-worker's tables, one process at a time, and opens them to the role of the service. */
export async function migrateQueueSchema({
  url,
  role,
}: {
  readonly url: string;
  readonly role: string;
}): Promise<void> {
  const client = new Client({ connectionString: url, application_name: `migrate ${QUEUE_SCHEMA}` });
  // A connection that breaks also fails the running query; without a listener it ends the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [
      `migrate ${QUEUE_SCHEMA}`,
    ]);
    await runMigrations({ connectionString: url, schema: QUEUE_SCHEMA, logger: SILENT });
    await grantQueue(client, role);
  } finally {
    await client.end();
  }
}

/** graphile-worker protects its tables by row-level security, which knows only their owner. */
async function grantQueue(client: Client, role: string): Promise<void> {
  await client.query(
    `begin;
     grant usage on schema ${QUEUE_SCHEMA} to ${role};
     grant select, insert, update, delete on all tables in schema ${QUEUE_SCHEMA} to ${role};
     grant usage on all sequences in schema ${QUEUE_SCHEMA} to ${role};
     commit`,
  );
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name
       from pg_class c
      where c.relnamespace = $1::regnamespace and c.relrowsecurity
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = $2)`,
    [QUEUE_SCHEMA, role],
  );
  for (const { name } of rows) {
    await client.query(
      `create policy ${role} on ${QUEUE_SCHEMA}.${client.escapeIdentifier(name)} to ${role}
         using (true) with check (true)`,
    );
  }
}
