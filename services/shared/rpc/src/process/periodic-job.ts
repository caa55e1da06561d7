import { setTimeout as sleep } from "node:timers/promises";

import { untilSharedTick } from "@scrip/clock";

export type PeriodicJob = {
  readonly everyMs: number;
  /** Should stop early when the signal aborts; errors are reported, and the next run follows. */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
  readonly onError: (error: Error) => void;
};

/** Longer intervals begin with the end of a run. */
const MAX_SHARED_MS = 10_000;

/** Repeats the work of a background job after a pause, until disposed. */
export function startPeriodicJob({ everyMs, work, onError }: PeriodicJob): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        onError(error instanceof Error ? error : new Error(String(error)));
      }
      await pause(everyMs > MAX_SHARED_MS ? everyMs : untilSharedTick(everyMs), signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

/** Ends early when the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

export type BatchJob = {
  readonly everyMs: number;
  /** Pause between batches. Default: none. */
  readonly pauseMs?: number;
  /** Processes one batch, and returns whether there may be more. */
  readonly batch: () => Promise<boolean>;
  readonly onError: (error: Error) => void;
};

/** Processes batches one after the other until none is left, and again after a pause, until disposed. */
export const startBatchJob = ({ everyMs, pauseMs, batch, onError }: BatchJob): AsyncDisposable =>
  startPeriodicJob({
    everyMs,
    async work(signal) {
      for (let mayBeMore = true; mayBeMore && !signal.aborted;) {
        mayBeMore = await batch();
        if (mayBeMore && pauseMs !== undefined) await pause(pauseMs, signal);
      }
    },
    onError,
  });

export type WokenJob = Omit<BatchJob, "pauseMs"> & {
  /** Pause between runs of a job that is not woken. */
  readonly idleMs: number;
  /** How long it runs every `everyMs` after the start and each `wake`. Default: 5 seconds. */
  readonly wokenMs?: number;
};

const WOKEN_MS = 5_000;

/**
 * As `startBatchJob`, for work that this process announces with `wake`: work that it does not announce, of a process that
 * ended or that becomes due later, is found every `idleMs`.
 */
export function startWokenJob({
  idleMs,
  wokenMs = WOKEN_MS,
  ...job
}: WokenJob): AsyncDisposable & { readonly wake: () => void } {
  let wokenUntil = performance.now() + wokenMs;
  let idling: AbortController | undefined;
  const running = startPeriodicJob({
    ...job,
    async work(signal) {
      if (performance.now() > wokenUntil) {
        idling = new AbortController();
        const ms = idleMs - (performance.now() % idleMs);
        await pause(ms, AbortSignal.any([signal, idling.signal]));
        idling = undefined;
      }
      while (!signal.aborted && (await job.batch()));
    },
  });
  return {
    wake() {
      wokenUntil = performance.now() + wokenMs;
      idling?.abort();
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
