import { Client } from "pg";

import { assertIdentifier } from "./identifier.ts";
import { MigrationError } from "./migration-error.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { ensureRole } from "./role.ts";
import { WRITE_CHECK_TABLE } from "./write-check.ts";

export { MigrationError } from "./migration-error.ts";

export type MigrateOptions = {
  readonly url: string;
  readonly schema: string;
  /** The role of the service: it uses the tables of the schema and owns nothing. */
  readonly role: string;
  readonly folder: string;
};

/** How long to wait for other processes that migrate the same schema. */
const TURN_TIMEOUT = "60s";

/** While a change waits for a table, all others wait behind it: better to fail and retry. */
const TABLE_LOCK_TIMEOUT = "5s";

const CONNECTION_TIMEOUT_MS = 10_000;

/**
 * Brings a schema up to date: applies the numbered .sql files of `folder` that are not applied yet,
 * each in its own transaction, one process at a time, and returns their names. Creates the schema
 * and the role when missing, and grants the role the tables.
 *
 * Migrations are history: an applied file that has changed or is missing is an error, and so is a
 * database that is ahead of this code. Nothing is ever undone.
 */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const { url, schema, role, folder } = options;
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
    await client.query(`set lock_timeout = '${TURN_TIMEOUT}'`);
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [`migrate ${schema}`]);
    await client.query(`set lock_timeout = '${TABLE_LOCK_TIMEOUT}'`);
    await prepare(client, schema, role);
    const pending = await pendingOf(client, schema, migrations);
    for (const migration of pending) await apply(client, schema, migration);
    // Always, not only after a change: an earlier run may have ended before this step.
    await grantTables(client, schema, role);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function prepare(client: Client, schema: string, role: string): Promise<void> {
  await ensureRole(client, role);
  await client.query(`create schema if not exists ${schema}`);
  await client.query(`grant usage on schema ${schema} to ${role}`);
  await client.query(`set search_path to ${schema}`);
  await client.query(
    `create table if not exists migration (
       name text primary key, sha256 text not null, applied_at timestamptz not null default now())`,
  );
  await client.query(WRITE_CHECK_TABLE);
}

/**
 * The files that remain to be applied, after checking that the folder continues the applied ones.
 */
async function pendingOf(
  client: Client,
  schema: string,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows: applied } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from migration order by name collate "C"',
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const lastKnown = migrations.at(-1)?.name ?? "";
  for (const { name, sha256 } of applied) {
    const migration = known.get(name);
    if (migration === undefined) {
      throw new MigrationError(
        name > lastKnown
          ? `The schema ${schema} is newer than this program: ${name} was applied by a later release. Run that release or a newer one.`
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

async function apply(client: Client, schema: string, migration: Migration): Promise<void> {
  try {
    await client.query("begin");
    await client.query(migration.sql);
    await client.query("insert into migration (name, sha256) values ($1, $2)", [
      migration.name,
      migration.sha256,
    ]);
    await client.query("commit");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(
      `Migration ${migration.name} of the schema ${schema} failed and was rolled back: ${reason}`,
      { cause: error },
    );
  }
}

async function grantTables(client: Client, schema: string, role: string): Promise<void> {
  await client.query(
    `begin;
     grant select, insert, update, delete on all tables in schema ${schema} to ${role};
     grant usage on all sequences in schema ${schema} to ${role};
     revoke insert, update, delete on migration from ${role};
     commit`,
  );
}
