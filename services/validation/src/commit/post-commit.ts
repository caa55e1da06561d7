import { setTimeout as sleep } from "node:timers/promises";

import { currentTime } from "@scrip/clock";
import { isUnavailable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";

/** Longer than post-commit work usually takes, and short enough to respond in time. */
const POST_COMMIT_TIMEOUT_MS = 2_000;

/**
 * Waits for work after the commit (storing the order, releasing claims) without letting it fail the
 * response. Errors and timeouts are logged; the redemption's event repairs the order, and claims
 * expire.
 */
export async function runPostCommit(
  { onError }: Pick<Deps, "onError">,
  what: string,
  ...works: readonly (Promise<void> | undefined)[]
): Promise<void> {
  const all = works.filter((work) => work !== undefined);
  if (all.length === 0) return;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    onError(new Error(`${what} takes longer than ${POST_COMMIT_TIMEOUT_MS} ms`));
    resolve();
  }, POST_COMMIT_TIMEOUT_MS);
  const done = Promise.all(all)
    .catch((cause: unknown) => onError(new Error(`${what} failed`, { cause })))
    .finally(() => clearTimeout(timer));
  await Promise.race([done, over]);
}

const FIRST_PAUSE_MS = 50;

/** Retries while the database is unavailable and the deadline has not passed. */
export async function retryWhileUnavailable<Result>(
  work: () => Promise<Result>,
  deadline: number,
): Promise<Result> {
  for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || currentTime() + pause > deadline) throw error;
    }
    await sleep(pause);
  }
}
