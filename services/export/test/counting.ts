import type { Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { afterAll, afterEach } from "vitest";

import type { QueueName } from "../src/domain/job.ts";
import type { AnyJobDefinition } from "../src/jobs/job-definition.ts";
import { runTurn } from "../src/jobs/run-turn.ts";
import { anyProject, startExports } from "./deps.ts";
import { COUNT, COUNTED_TABLE } from "./fixture/count-job.ts";

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
  const { db, errors } = exports;
  return {
    ...exports,
    /** The items that a job has counted, in their order. */
    countedBy: async (id: string): Promise<readonly number[]> => {
      const { rows } = await db.query<{ item: number }>(
        "select item from counted where job_id = $1 order by at",
        [id],
      );
      return rows.map(({ item }) => item);
    },
    /** One turn of a project, without graphile-worker. */
    takeTurnOf: (
      definition: AnyJobDefinition,
      call: Call,
      queue: QueueName = "bulk",
    ): Promise<void> =>
      runTurn(
        {
          db,
          definitions: new Map([[COUNT, definition]]),
          findProject: anyProject,
          onError: (error) => void errors.push(error),
        },
        { projectId: call.project.id, queue },
        new AbortController().signal,
      ),
    startWorker: async (...args: Parameters<typeof exports.startWorker>) =>
      workers.use(await exports.startWorker(...args)),
  };
}
