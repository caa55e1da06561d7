import type { Queryable } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredTokens } from "../store/access-tokens.ts";
import { deleteExpiredResponses } from "../store/idempotency.ts";

const INTERVAL_MS = 60_000;
/** Rows per statement: few enough to hold locks briefly. */
const CHUNK = 1_000;
/** Statements per round; the rest is deleted in the next round. */
const MAX_CHUNKS = 500;

/** Deletes expired tokens and stored responses in chunks. */
export const startDeletingExpired = (
  db: Queryable,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: INTERVAL_MS,
    work: (signal) => deleteExpired(db, () => signal.aborted),
    onError,
  });

export async function deleteExpired(db: Queryable, stopped: () => boolean): Promise<void> {
  for (const remove of [deleteExpiredTokens, deleteExpiredResponses]) {
    for (let chunk = 0; chunk < MAX_CHUNKS && !stopped(); chunk += 1) {
      if ((await remove(db, CHUNK)) < CHUNK) break;
    }
  }
}
