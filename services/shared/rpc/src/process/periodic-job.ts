import { setTimeout as sleep } from "node:timers/promises";

export type PeriodicJob = {
  readonly everyMs: number;
  /** Should stop early when the signal aborts; errors are reported, and the next run follows. */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
  readonly onError: (error: Error) => void;
};

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
      await pause(everyMs, signal);
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
