import { asAdmin } from "@scrip/testing";
import { afterAll, afterEach } from "vitest";

import { startExports } from "./deps.ts";
import { COUNTED_TABLE } from "./fixture/count-job.ts";

/** The export service of a test file with the table of `countJob`, and workers that end with their test. */
export async function startCounting() {
  const exports = await startExports();
  afterAll(() => exports[Symbol.asyncDispose]());
  await asAdmin(exports.db.url, (client) =>
    client.query(
      `set search_path = export; ${COUNTED_TABLE}; grant all on counted to scrip_export`,
    ),
  );
  let workers = new AsyncDisposableStack();
  afterEach(async () => {
    const ending = workers;
    workers = new AsyncDisposableStack();
    await ending.disposeAsync();
  });
  return {
    ...exports,
    startWorker: async (...args: Parameters<typeof exports.startWorker>) =>
      workers.use(await exports.startWorker(...args)),
  };
}
