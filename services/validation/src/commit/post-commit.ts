import { setTimeout as sleep } from "node:timers/promises";

import { isUnavailable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";

/** Longer than what comes after a commit takes, and short enough for the answer to be in time. */
const POST_COMMIT_TIMEOUT_MS = 2_000;

/**
 * Waits for what comes after the answer is decided: nothing of it may turn a redemption that was made
 * into an error. What fails or takes too long is told to the operators, and mended by the
 * redemption's event or, a claim, by its end.
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

/** Does the work again while the database is away and the time lasts. */
export async function retryWhileUnavailable(
  work: () => Promise<void>,
  deadline: number,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || Date.now() + pause > deadline) throw error;
    }
    await sleep(pause);
  }
}
