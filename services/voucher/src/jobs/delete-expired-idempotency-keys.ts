import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredResponses } from "../store/idempotency.ts";

/** How long a stored response is replayed (docs/idempotency.md#keys). */
const RETENTION_HOURS = 48;
/** Small, so that locks are short. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/** Deletes expired idempotency keys in chunks, until disposed. */
export const startIdempotencyKeyExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      // After a full chunk another one is likely, so the loop does not pause.
      while (
        !signal.aborted &&
        (await deleteExpiredResponses(db, RETENTION_HOURS, CHUNK)) === CHUNK
      );
    },
    onError,
  });
