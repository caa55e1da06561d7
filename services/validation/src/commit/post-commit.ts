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
const MAX_PAUSE_MS = 500;

/**
 * Releases a claim. While the database is unavailable, it goes on in the background until the claim expires: requests that
 * wait for the claim could otherwise wait until then, although nothing runs.
 */
export async function releaseClaim(release: () => Promise<void>, expiresAt: number): Promise<void> {
  try {
    await release();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    retryWhileUnavailable(release, expiresAt).catch(() => {});
  }
}

/** Retries while the database is unavailable and the deadline has not passed. */
export async function retryWhileUnavailable<Result>(
  work: () => Promise<Result>,
  deadline: number,
): Promise<Result> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || currentTime() + pause > deadline) throw error;
    }
    await sleep(pause);
  }
}
