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
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
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
