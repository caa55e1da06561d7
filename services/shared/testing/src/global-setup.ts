import { randomBytes } from "node:crypto";

import type { TestProject } from "vitest/node";

import { asAdmin } from "./admin.ts";
import { temporaryFilesInMemory } from "./memory-folder.ts";
import { oncePerRun } from "./once-per-run.ts";
import { startTestPostgres } from "./test-postgres.ts";

/** Provides a PostgreSQL server for the tests of all projects, and drops their databases afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await oncePerRun("postgres", startServer);
  project.provide("postgresUrl", server.url);
  project.provide("testRun", server.run);
  return () => server[Symbol.asyncDispose]();
}

async function startServer() {
  await using parts = new AsyncDisposableStack();
  parts.use(temporaryFilesInMemory());
  const { url } = parts.use(await startTestPostgres());
  const run = randomBytes(4).toString("hex");
  parts.defer(() => dropDatabases(url, run));

  const running = parts.move();
  return { url, run, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function dropDatabases(url: string, run: string): Promise<void> {
  await asAdmin(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [`test_${run}_`],
    );
    for (const { name } of rows) {
      await client.query(`drop database if exists ${name} with (force)`);
    }
  });
}
