import { EventEmitter } from "node:events";

import { createPool, type Database, type DatabaseOptions } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";
import { Logger, run, type WorkerEvents } from "graphile-worker";
import type { Pool } from "pg";

import { QUEUE_SCHEMA } from "../store/queue-schema.ts";
import {
  findForgottenQueues,
  findHeldTurns,
  deleteWorker,
  keepWorkerAlive,
  type ProjectQueue,
  releaseOrphanedLanes,
  releaseTurns,
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

/** New turns are announced, and the heartbeat finds those whose time has come and those of dead processes. */
const POLL_MS = 60_000;

const HEARTBEAT_MS = 1_000;
const FORGOTTEN_EVERY_MS = 30_000;

/**
 * When the end of a turn cannot be stored, graphile-worker stops with an event. Without delays it would leave a rejected
 * promise, which ends the process.
 */
const REPORTED_FAILURES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

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
  const start = (): Promise<Runner> =>
    startRunner(pool, (queue, signal) => runTurn(tools, queue, signal), onError);
  let runner = await start();
  parts.defer(() => deleteWorker(db, runner.id));
  const retiring = new Map<Runner, Promise<void>>();
  parts.defer(async () => void (await Promise.all(retiring.values())));
  const retire = async (stuck: Runner): Promise<void> => {
    try {
      await stuck.stop();
      await deleteWorker(db, stuck.id);
    } catch (error) {
      onError(error as Error);
    } finally {
      retiring.delete(stuck);
    }
  };
  parts.use(
    startPeriodicJob({
      everyMs: HEARTBEAT_MS,
      work: async () => {
        if (runner.isStuck() && !stopping.signal.aborted) {
          const [stuck, next] = [runner, await start()];
          if (stopping.signal.aborted) return next.stop();
          runner = next;
          // Its slices may take some seconds.
          retiring.set(stuck, retire(stuck));
        }
        for (const { id } of retiring.keys()) await keepWorkerAlive(db, id);
        if (await keepWorkerAlive(db, runner.id)) runner.nudge(CONCURRENT_TURNS);
      },
      onError,
    }),
  );
  parts.use(startReleases(db, () => runner, onError));
  parts.defer(async () => {
    stopping.abort();
    await runner.stop();
  });
  const running = parts.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Releases what this process holds without running it, and schedules the turns that are missing. */
function startReleases(
  db: Database,
  current: () => Runner,
  onError: (error: Error) => void,
): AsyncDisposable {
  // A turn that has ended is still held until its end is stored: it is forgotten if it is held the next time, too.
  let idleBefore: ReadonlySet<string> = new Set();
  return startPeriodicJob({
    everyMs: FORGOTTEN_EVERY_MS,
    work: async () => {
      const { id, running } = current();
      const idle = (await findHeldTurns(db, id)).filter((turn) => !running.has(turn));
      const forgotten = idle.filter((turn) => idleBefore.has(turn));
      idleBefore = new Set(idle);
      await releaseTurns(db, id, forgotten);
      await releaseOrphanedLanes(db, id, [...running.values()]);
      for (const queue of await findForgottenQueues(db)) await scheduleTurn(db, queue);
    },
    onError,
  });
}

type Runner = {
  readonly id: string;
  /** Looks for turns now, instead of within a second. */
  readonly nudge: (count: number) => void;
  readonly isStuck: () => boolean;
  /** The turns that run here, by id. */
  readonly running: ReadonlyMap<string, ProjectQueue>;
  readonly stop: () => Promise<void>;
};

/** The pool reads ids as bigint, although graphile-worker declares them as text. */
const turnIdOf = ({ id }: { readonly id: unknown }): string => String(id);

async function startRunner(
  pgPool: Pool,
  turn: (queue: ProjectQueue, signal: AbortSignal) => Promise<void>,
  onError: (error: Error) => void,
): Promise<Runner> {
  const events: WorkerEvents = new EventEmitter();
  let workers: { readonly id: string; nudge: (count: number) => void } | undefined;
  let hasFailed = false;
  let hasLooked = false;
  let hasEnded = false;
  const ending = new AbortController();
  const running = new Map<string, ProjectQueue>();
  events.on("pool:create", ({ workerPool }) => (workers = workerPool));
  events.on("job:start", ({ job }) => {
    hasLooked = true;
    running.set(turnIdOf(job), job.payload as ProjectQueue);
  });
  events.on("job:complete", ({ job }) => running.delete(turnIdOf(job)));
  events.on("worker:getJob:empty", () => (hasLooked = true));
  events.on("worker:getJob:error", ({ error }) => {
    if (!hasFailed) onError(new Error("cannot load due jobs", { cause: error }));
    hasFailed = true;
  });
  // The end of a turn could not be stored.
  events.on("pool:fatalError", () => {
    hasEnded = true;
    ending.abort();
  });
  const runner = await run({
    pgPool,
    preset: REPORTED_FAILURES,
    schema: QUEUE_SCHEMA,
    concurrency: CONCURRENT_TURNS,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    events,
    logger: new Logger(() => (level, message) => {
      if (level === "error") onError(new Error(message));
    }),
    taskList: { [TURN_TASK]: (payload) => turn(payload as ProjectQueue, ending.signal) },
  });
  return {
    id: workers?.id ?? "",
    nudge: (count) => workers?.nudge(count),
    running,
    // graphile-worker caches the failure of its first statement, and then never finds a job.
    isStuck: () => hasEnded || (hasFailed && !hasLooked),
    async stop() {
      ending.abort();
      // It stops itself when the end of a turn could not be stored, and rejects being stopped twice.
      if (hasEnded) await runner.promise.catch(onError);
      else await runner.stop();
    },
  };
}
