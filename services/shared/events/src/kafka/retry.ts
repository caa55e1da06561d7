import { setTimeout as pause } from "node:timers/promises";

/** Of a request; about three seconds. What fails after that is tried again by its caller. */
export const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 };

const PAUSE_MS = 50;

/** Repeats a call that fails because the brokers are not ready, for about `ms`. */
export async function retryFor<Result>(ms: number, call: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + ms;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isRetriable(error) || performance.now() > deadline) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** kafkajs wraps errors whose repetitions have failed, and marks them as final. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Of kafkajs, which expects offsets of a partition that has no leader yet.
  if (error instanceof TypeError) return true;
  return ("retriable" in error && error.retriable === true) || isRetriable(error.cause);
}
