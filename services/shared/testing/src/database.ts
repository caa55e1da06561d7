import { createHash } from "node:crypto";

import { createDatabase, type Database, migrate, readMigrations } from "@scrip/postgres";
import { inject } from "vitest";

import { asAdmin } from "./admin.ts";
import { createDatabaseFrom, type EmptyDatabase } from "./empty-database.ts";
import { findMigratedParts, type MigratedPart } from "./migrated-parts.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    testRun: string;
  }
}

/** A database for one test file, dropped when disposed. */
export const emptyDatabase = (): Promise<EmptyDatabase> => createFrom("template1");

/**
 * A database to which the migrations of these schemas are applied, so that services that start on it find
 * nothing to apply. Default: all schemas; fewer are copied in less time.
 */
export async function migratedDatabase(...schemas: readonly string[]): Promise<EmptyDatabase> {
  const parts = await findMigratedParts();
  const chosen = parts.filter(({ schema }) => schemas.includes(schema));
  return createFrom(await templateOf(schemas.length === 0 ? parts : chosen));
}

export type TestDatabase = Database & EmptyDatabase;

export type TestDatabaseOptions = MigratedPart & { readonly poolSize?: number };

const POOL_SIZE = 20;

/**
 * A database with the migrations of one service applied, and a pool that connects as the service
 * does. The migrations run once per test run: the databases are copies.
 */
export async function testDatabase({
  poolSize = POOL_SIZE,
  ...part
}: TestDatabaseOptions): Promise<TestDatabase> {
  const { schema, role } = part;
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await createFrom(await templateOf([part])));
  const database = createDatabase({ url, schema, role, poolSize, onError: () => {} });
  parts.defer(() => database.close());

  const owned = parts.move();
  return { ...database, url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const createFrom = (template: string): Promise<EmptyDatabase> =>
  createDatabaseFrom({ postgresUrl: inject("postgresUrl"), testRun: inject("testRun") }, template);

const urlOf = (database: string): string =>
  Object.assign(new URL(inject("postgresUrl")), { pathname: `/${database}` }).href;

/** The name of a template database with the migrations of these parts. The first caller creates it. */
async function templateOf(parts: readonly MigratedPart[]): Promise<string> {
  const name = `test_${inject("testRun")}_of_${await hashOf(parts)}`;
  await asAdmin(inject("postgresUrl"), async (client) => {
    // Test files run in several processes; one creates the template while the others wait.
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const { rows } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rows.length > 0) return;
    const unfinished = `${name}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await Promise.all(parts.map((part) => migrate({ url: urlOf(unfinished), ...part })));
    await client.query(`alter database ${unfinished} rename to ${name}`);
  });
  return name;
}

async function hashOf(parts: readonly MigratedPart[]): Promise<string> {
  const contents = parts.map(async ({ schema, role, folder }) => [
    schema,
    role,
    (await readMigrations(folder)).map(({ sha256 }) => sha256),
  ]);
  const text = JSON.stringify(await Promise.all(contents));
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
