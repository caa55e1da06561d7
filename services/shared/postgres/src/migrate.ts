import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";

import { CASELESS_COLLATION } from "./collation.ts";
import { assertIdentifier } from "./identifier.ts";
import { MigrationError } from "./migration-error.ts";
import {
  type AppliedMigration,
  isCompatible,
  type Migration,
  readMigrations,
} from "./migration-files.ts";
import { ensureRole } from "./role.ts";
import { protectTables } from "./row-security.ts";
import { tenantRoleOf } from "./tenant-role.ts";
import { WRITE_CHECK_TABLE } from "./write-check.ts";

export { MigrationError } from "./migration-error.ts";

export type MigrateOptions = {
  readonly url: string;
  readonly schema: string;
  /** The role of the service: it uses the tables of the schema and owns nothing. */
  readonly role: string;
  readonly folder: string;
  /** Another role that reads some tables of the schema, as far as the role and the tables exist. */
  readonly reader?: TableReader;
};

export type TableReader = { readonly role: string; readonly tables: readonly string[] };

/** How long to wait for other processes that migrate the same schema. */
const TURN_TIMEOUT_MS = 60_000;
const TURN_POLL_MS = 100;

/**
 * All statements on a table queue behind a migration that waits for its lock, so the migration fails after this time
 * and can be retried.
 */
const TABLE_LOCK_TIMEOUT = "5s";

/** `create index concurrently` waits for all older transactions, and nothing waits for it. */
const CONCURRENT_LOCK_TIMEOUT = "10min";

const CONNECTION_TIMEOUT_MS = 10_000;

/**
 * Brings a schema up to date: applies the numbered .sql files of `folder` that are not applied yet,
 * each in its own transaction, one process at a time, and returns their names. Creates the schema,
 * the role and its tenant role when missing, and then the policies of new tables. Each transaction also grants the tables, so that processes of an earlier
 * release that use a table which a migration replaces do not lose access to it.
 *
 * Migrations are history: an applied file that has changed or is missing is an error. Nothing is
 * ever undone. Migrations of later releases are accepted, unless one of them has a mark
 * (`Migration.contract`) that this program is too old for.
 */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const { url, schema, role, folder, reader } = options;
  assertIdentifier(schema);
  assertIdentifier(role);
  const migrations = await readMigrations(folder);
  const client = new Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  });
  // A connection that breaks also fails the running query; without a listener it ends the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await checkServer(client);
    await takeTurn(client, schema);
    await client.query(`set lock_timeout = '${TABLE_LOCK_TIMEOUT}'`);
    await prepare(client, schema, role);
    const pending = await pendingOf(client, schema, migrations);
    for (const migration of pending) await apply(client, migration, { schema, role, reader });
    // Also without a change: the reader may have been created since.
    await inTransaction(client, () => grantTables(client, { schema, role, reader }));
    await protectTables(client, { schema, role });
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The oldest supported version of PostgreSQL. Keep docs/operations.md and distribution-postgres.ts of @scrip/testing equal. */
const OLDEST_VERSION = 15;

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    "select current_setting('server_version') as version, current_setting('server_encoding') as encoding",
  );
  const { version = "", encoding = "" } = rows[0] ?? {};
  if (Number.parseInt(version, 10) < OLDEST_VERSION) {
    throw new MigrationError(
      `Scrip needs PostgreSQL ${OLDEST_VERSION} or later, and this server is version ${version}. Use a newer server.`,
    );
  }
  if (encoding !== "UTF8") {
    throw new MigrationError(
      `Scrip needs a database with the encoding UTF8, and this one has ${encoding}. Create one, and restore a dump of this one into it if it has data.`,
    );
  }
}

/**
 * Waits until no other process migrates the schema. It polls, because `create index concurrently` waits for the
 * transactions of waiting statements.
 */
async function takeTurn(client: Client, schema: string): Promise<void> {
  const deadline = performance.now() + TURN_TIMEOUT_MS;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as taken",
      [`migrate ${schema}`],
    );
    if (rows[0]?.taken === true) return;
    if (performance.now() > deadline) {
      throw new MigrationError(
        `Another process is still migrating the schema ${schema}. Start again later.`,
      );
    }
    await sleep(TURN_POLL_MS);
  }
}

async function prepare(client: Client, schema: string, role: string): Promise<void> {
  await ensureRole(client, role);
  await ensureRole(client, tenantRoleOf(role));
  await client.query(`create schema if not exists ${schema}`);
  await client.query(`grant usage on schema ${schema} to ${role}`);
  await client.query(`set search_path to ${schema}`);
  await client.query(
    `create table if not exists migration (
       name text primary key, sha256 text not null, applied_at timestamptz not null default now(), contract text)`,
  );
  await client.query(ADD_CONTRACT);
  await client.query(WRITE_CHECK_TABLE);
  await client.query(CASELESS_COLLATION);
}

/**
 * Adds the column to schemas of earlier releases. Executed only if it is missing, because it would wait for a running
 * backup.
 */
const ADD_CONTRACT = `
  do $$ begin
    if not exists (select from pg_attribute where attrelid = 'migration'::regclass and attname = 'contract') then
      alter table migration add column contract text;
    end if;
  end $$`;

/**
 * The files that remain to be applied, after checking that the folder continues the applied ones.
 */
async function pendingOf(
  client: Client,
  schema: string,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows: applied } = await client.query<AppliedMigration>(
    'select name, sha256, contract from migration order by name collate "C"',
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const lastKnown = migrations.at(-1)?.name ?? "";
  for (const { name, sha256, contract } of applied) {
    const migration = known.get(name);
    if (migration === undefined) {
      if (isCompatible({ name, contract }, lastKnown)) continue;
      throw new MigrationError(
        name > lastKnown
          ? `The schema ${schema} is too new for this program: ${name} of a later release needs programs that have migration ` +
              `${contract}, and the last one of this program is ${lastKnown || "none"}. Run a newer release.`
          : `Migration ${name} of the schema ${schema} was applied and is missing now: migrations are history and must stay.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new MigrationError(
        `Migration ${name} of the schema ${schema} was changed after it was applied: put it back and add a new one.`,
      );
    }
  }
  const lastApplied = applied.at(-1)?.name ?? "";
  const pending = migrations.filter(({ name }) => !applied.some((row) => row.name === name));
  const late = pending.find(({ name }) => name < lastApplied);
  if (late !== undefined) {
    throw new MigrationError(
      `Migration ${late.name} comes before ${lastApplied}, which the schema ${schema} already has: give it a higher number.`,
    );
  }
  return pending;
}

type Grants = Pick<MigrateOptions, "schema" | "role"> & {
  readonly reader: TableReader | undefined;
};

async function apply(client: Client, migration: Migration, grants: Grants): Promise<void> {
  const { name, sql, sha256, contract = null, statements } = migration;
  try {
    if (statements !== undefined) await applyAlone(client, statements);
    await inTransaction(client, async () => {
      if (statements === undefined) await client.query(sql);
      await grantTables(client, grants);
      await client.query("insert into migration (name, sha256, contract) values ($1, $2, $3)", [
        name,
        sha256,
        contract,
      ]);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const state = statements === undefined ? "was rolled back" : "may be applied in part";
    throw new MigrationError(
      `Migration ${name} of the schema ${grants.schema} failed and ${state}: ${reason}`,
      { cause: error },
    );
  }
}

/** The caller ends the connection after an error, which rolls back. */
async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  await work();
  await client.query("commit");
}

async function applyAlone(client: Client, statements: readonly string[]): Promise<void> {
  await client.query(`set lock_timeout = '${CONCURRENT_LOCK_TIMEOUT}'`);
  for (const statement of statements) {
    await dropInterruptedIndex(client, statement);
    await client.query(statement);
  }
  await client.query(`set lock_timeout = '${TABLE_LOCK_TIMEOUT}'`);
}

const CREATED_INDEX = /create (?:unique )?index concurrently if not exists (\w+)/i;

/** An interrupted build leaves an invalid index, which `if not exists` would accept. A complete one is not built again. */
async function dropInterruptedIndex(client: Client, statement: string): Promise<void> {
  const name = CREATED_INDEX.exec(statement)?.[1];
  if (name === undefined) return;
  const { rows } = await client.query(
    "select from pg_index where indexrelid = to_regclass($1) and not indisvalid",
    [name],
  );
  if (rows.length > 0) await client.query(`drop index concurrently ${name}`);
}

async function grantTables(client: Client, { schema, role, reader }: Grants): Promise<void> {
  await client.query(
    `grant select, insert, update, delete on all tables in schema ${schema} to ${role};
     grant usage on all sequences in schema ${schema} to ${role};
     revoke insert, update, delete on migration from ${role};
     ${revokeChanges(schema, role)}`,
  );
  if (reader !== undefined) await grantReader(client, schema, reader);
}

/** SQL: tables with the comment `append-only`, and their partitions, get rows and lose none except by their owner. */
const revokeChanges = (schema: string, role: string): string => `
  do $$
  declare part regclass;
  begin
    for part in select tree.oid
                  from pg_class c,
                       lateral (select c.oid union select relid from pg_partition_tree(c.oid)) as tree
                 where c.relnamespace = '${schema}'::regnamespace and c.relkind in ('r', 'p')
                   and obj_description(c.oid, 'pg_class') = 'append-only'
    loop
      execute format('revoke update, delete on %s from ${role}', part);
    end loop;
  end $$`;

async function grantReader(
  client: Client,
  schema: string,
  { role, tables }: TableReader,
): Promise<void> {
  assertIdentifier(role);
  tables.forEach(assertIdentifier);
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = to_regnamespace($1) and relname = any($2) and relkind in ('r', 'p', 'v', 'm')
        and exists (select from pg_roles where rolname = $3)`,
    [schema, tables, role],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => `${schema}.${name}`);
  await client.query(
    `grant usage on schema ${schema} to ${role};
     grant select on ${names.join(", ")} to ${role}`,
  );
}
