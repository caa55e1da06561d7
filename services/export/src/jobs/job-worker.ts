import { EventEmitter } from "node:events";

import { createPool, type DatabaseOptions } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";
import { Logger, run, type WorkerEvents } from "graphile-worker";

import { QUEUE_SCHEMA } from "../store/queue-schema.ts";
import {
  findForgottenQueues,
  forgetWorker,
  keepWorkerAlive,
  type ProjectQueue,
  scheduleTurn,
  TURN_TASK,
} from "../store/turns.ts";
import type { AnyJobDefinition } from "./job-definition.ts";
import { runTurn, type TurnTools } from "./run-turn.ts";

export type JobWorkerOptions = Omit<DatabaseOptions, "poolSize"> &
  Omit<TurnTools, "definitions"> & {
    readonly definitions: readonly AnyJobDefinition[];
  };

/** Turns that run at the same time, of different projects or queues. The rest of the machine serves requests. */
const CONCURRENT_TURNS = 2;

/** One listens for new turns; the others fetch and complete them. The turns themselves use the service's pool. */
const POOL_SIZE = 3;

/** New turns are announced; this finds those whose time has come, and those of dead processes. */
const POLL_MS = 1_000;

const HEARTBEAT_MS = 1_000;
const FORGOTTEN_EVERY_MS = 30_000;

/**
 * Carries out jobs until disposed. Then running slices end with a checkpoint, and another process continues. When a
 * process is killed, another continues its jobs within about six seconds.
 */
export async function startJobWorker(options: JobWorkerOptions): Promise<AsyncDisposable> {
  const { db, onError } = options;
  const tools: TurnTools = {
    ...options,
    definitions: new Map(options.definitions.map((definition) => [definition.type, definition])),
  };
  await using parts = new AsyncDisposableStack();
  const pool = createPool({ ...options, poolSize: POOL_SIZE, applicationName: "export jobs" });
  parts.defer(() => pool.end());
  const stopping = new AbortController();
  const events: WorkerEvents = new EventEmitter();
  let workers: { readonly id: string; nudge: (count: number) => void } | undefined;
  events.on("pool:create", ({ workerPool }) => (workers = workerPool));
  const runner = await run({
    pgPool: pool,
    schema: QUEUE_SCHEMA,
    concurrency: CONCURRENT_TURNS,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    events,
    logger: new Logger(() => (level, message) => {
      if (level === "error") onError(new Error(message));
    }),
    taskList: {
      [TURN_TASK]: (payload) => runTurn(tools, payload as ProjectQueue, stopping.signal),
    },
  });
  const workerId = workers?.id ?? "";
  parts.defer(() => forgetWorker(db, workerId));
  parts.use(
    startPeriodicJob({
      everyMs: HEARTBEAT_MS,
      work: async () => {
        if ((await keepWorkerAlive(db, workerId)) > 0) workers?.nudge(CONCURRENT_TURNS);
      },
      onError,
    }),
  );
  parts.use(
    startPeriodicJob({
      everyMs: FORGOTTEN_EVERY_MS,
      work: async () => {
        for (const queue of await findForgottenQueues(db)) await scheduleTurn(db, queue);
      },
      onError,
    }),
  );
  parts.defer(async () => {
    stopping.abort();
    await runner.stop();
  });
  const running = parts.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
}
