import type { Queryable } from "@scrip/postgres";

import { deleteExpiredTokens } from "../store/access-tokens.ts";
import { deleteExpiredResponses } from "../store/idempotency.ts";

const INTERVAL_MS = 60_000;
/** Rows per statement: few enough to hold locks briefly. */
const CHUNK = 1_000;
/** Statements per round; the rest is deleted in the next round. */
const MAX_CHUNKS = 500;

/** Deletes expired tokens and stored responses in chunks. */
export function startDeletingExpired(
  db: Queryable,
  onError: (error: unknown) => void,
): AsyncDisposable {
  let stopped = false;
  let round: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    round = round.then(() => deleteExpired(db, () => stopped)).catch(onError);
  }, INTERVAL_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(timer);
      await round;
    },
  };
}

export async function deleteExpired(db: Queryable, stopped: () => boolean): Promise<void> {
  for (const remove of [deleteExpiredTokens, deleteExpiredResponses]) {
    for (let chunk = 0; chunk < MAX_CHUNKS && !stopped(); chunk += 1) {
      if ((await remove(db, CHUNK)) < CHUNK) break;
    }
  }
}
