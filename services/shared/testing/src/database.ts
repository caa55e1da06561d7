import { createHash } from "node:crypto";

import { createDatabase, type Database, migrate, readMigrations } from "@scrip/postgres";
import { inject } from "vitest";

import { asAdmin } from "./admin.ts";
import { createDatabaseFrom, type EmptyDatabase } from "./empty-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    testRun: string;
  }
}

/** A database for one test file, dropped when disposed. */
export const emptyDatabase = (): Promise<EmptyDatabase> => createFrom("template1");

export type TestDatabase = Database & EmptyDatabase;

export type TestDatabaseOptions = {
  readonly schema: string;
  readonly role: string;
  readonly folder: string;
  readonly poolSize?: number;
};

const POOL_SIZE = 20;

/**
 * A database with the migrations of one service applied, and a pool that connects as the service
 * does. The migrations run once per test run: the databases are copies.
 */
export async function testDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const { schema, role, poolSize = POOL_SIZE } = options;
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await createFrom(await templateOf(options)));
  const database = createDatabase({ url, schema, role, poolSize, onError: () => {} });
  parts.defer(() => database.close());

  const owned = parts.move();
  return { ...database, url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const createFrom = (template: string): Promise<EmptyDatabase> =>
  createDatabaseFrom({ postgresUrl: inject("postgresUrl"), testRun: inject("testRun") }, template);

const urlOf = (database: string): string =>
  Object.assign(new URL(inject("postgresUrl")), { pathname: `/${database}` }).href;

/** The name of a migrated template database. The first caller creates it. */
async function templateOf({ schema, role, folder }: TestDatabaseOptions): Promise<string> {
  const migrations = await readMigrations(folder);
  const contents = JSON.stringify([schema, role, migrations.map(({ sha256 }) => sha256)]);
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 12);
  const name = `test_${inject("testRun")}_of_${hash}`;
  await asAdmin(inject("postgresUrl"), async (client) => {
    // Test files run in several processes; one creates the template while the others wait.
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const { rows } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rows.length > 0) return;
    const unfinished = `${name}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await migrate({ url: urlOf(unfinished), schema, role, folder });
    await client.query(`alter database ${unfinished} rename to ${name}`);
  });
  return name;
}
