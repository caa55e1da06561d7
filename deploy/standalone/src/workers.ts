import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Env } from "@scrip/config";
import { holdPrimaryCounters } from "@scrip/gateway/counters";
import type { Logger } from "@scrip/telemetry";

import type { Composition } from "./compose.ts";

export type Workers = AsyncDisposable & Pick<Composition, "port" | "hasBootstrapKeys">;

export type WorkersOptions = {
  readonly count: number;
  readonly logger: Logger;
  /** Cancels the start, which then fails. */
  readonly stop: AbortSignal;
};

/** What a worker sends to its primary process when it serves requests. */
export type WorkerReady = Pick<Composition, "port" | "hasBootstrapKeys"> & {
  readonly type: "ready";
};

/** A worker could not start; it has printed the reason. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** Time until a worker that ended is started again; it doubles while new ones end as well. */
const RESTART_MS = 500;
const MAX_RESTART_MS = 30_000;
/** A worker that ran for this long counts as healthy. */
const HEALTHY_MS = 60_000;

/**
 * Runs the composition in several processes that share the ports. This process holds the counters of rate limits,
 * and replaces workers that end.
 */
export async function startWorkers(
  env: Env,
  { count, logger, stop }: WorkersOptions,
): Promise<Workers> {
  holdPrimaryCounters();
  // Workers accept connections themselves: one that the primary hands to a worker that has just ended would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: path.join(import.meta.dirname, "worker.ts"), args: [] });
  await using parts = new AsyncDisposableStack();
  const stopping = new AbortController();
  parts.defer(endAll);
  parts.defer(() => stopping.abort());
  const start = async (): Promise<WorkerReady> => {
    stop.throwIfAborted();
    const worker = fork(env);
    const ready = await Promise.race([readiness(worker), aborted(stop)]);
    void keepRunning(worker, { env, logger, stopping: stopping.signal });
    return ready;
  };
  // The first one migrates the database and creates the first project; the others find them.
  const { port, hasBootstrapKeys } = await start();
  await Promise.all(Array.from({ length: count - 1 }, start));
  const running = parts.move();
  return { port, hasBootstrapKeys, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function fork(env: Env): Worker {
  const worker = cluster.fork(env);
  // Messages to a worker that has just ended fail; its end is handled where it is awaited.
  worker.on("error", () => {});
  return worker;
}

async function readiness(worker: Worker): Promise<WorkerReady> {
  return new Promise((resolve, reject) => {
    worker.once("exit", () => reject(new WorkerError("A worker could not start; see above.")));
    worker.on("message", (message: WorkerReady | { readonly type?: undefined }) => {
      if (message.type === "ready") resolve(message);
    });
  });
}

async function aborted(signal: AbortSignal): Promise<never> {
  await once(signal, "abort");
  throw signal.reason;
}

async function keepRunning(
  first: Worker,
  {
    env,
    logger,
    stopping,
  }: { readonly env: Env; readonly logger: Logger; readonly stopping: AbortSignal },
): Promise<void> {
  let worker = first;
  let delay = RESTART_MS;
  for (;;) {
    const startedAt = performance.now();
    const [code, signal] = (await once(worker, "exit")) as [number | null, string | null];
    if (stopping.aborted) return;
    if (performance.now() - startedAt > HEALTHY_MS) delay = RESTART_MS;
    const { pid } = worker.process;
    logger.error({ pid, code, signal, delay }, "a worker ended and is replaced");
    await sleep(delay, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    delay = Math.min(2 * delay, MAX_RESTART_MS);
    worker = fork(env);
  }
}

/** Stops all workers, which complete what they are doing. */
async function endAll(): Promise<void> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  await Promise.all(
    workers.map(async (worker) => {
      const ended = once(worker, "exit");
      worker.process.kill("SIGTERM");
      await ended;
    }),
  );
}
