import { setTimeout as sleep } from "node:timers/promises";

import { isLockTimeout } from "./errors.ts";

/**
 * All statements on a table queue behind a schema change that waits for its lock, so the change gives up soon and
 * retries.
 */
export const SHORT_LOCK_TIMEOUT_MS = 100;
const ATTEMPTS = 20;
const PAUSE_MS = 250;
/** Longer than `deadlock_timeout`, after which PostgreSQL cancels an autovacuum that others wait for. */
const LAST_LOCK_TIMEOUT_MS = 1_500;

/** Repeats a change of a table that failed within the timeout for its lock, which it is given. */
export async function retryLockTimeout<Result>(
  change: (lockTimeoutMs: number) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change(attempt === ATTEMPTS ? LAST_LOCK_TIMEOUT_MS : SHORT_LOCK_TIMEOUT_MS);
    } catch (error) {
      if (attempt === ATTEMPTS || !isLockTimeout(error)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
