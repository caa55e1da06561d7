import { randomBytes } from "node:crypto";

import { asAdmin } from "./admin.ts";

/** The server of a test run, and the prefix of its databases. */
export type TestServer = { readonly postgresUrl: string; readonly testRun: string };

export type EmptyDatabase = AsyncDisposable & { readonly url: string };

/** A copy of the template, dropped when disposed. */
export async function createDatabaseFrom(
  { postgresUrl, testRun }: TestServer,
  template: string,
): Promise<EmptyDatabase> {
  const name = `test_${testRun}_${randomBytes(6).toString("hex")}`;
  const run = (statement: string): Promise<unknown> =>
    asAdmin(postgresUrl, (client) => client.query(statement));
  // Copying the files takes less time than the default, which writes each page to the log.
  await run(`create database ${name} template ${template} strategy file_copy`);
  return {
    url: Object.assign(new URL(postgresUrl), { pathname: `/${name}` }).href,
    async [Symbol.asyncDispose]() {
      await run(`drop database if exists ${name} with (force)`);
    },
  };
}
