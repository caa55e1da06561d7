import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredResponses } from "../store/idempotency.ts";

/** How long an answer is given again to a repeat (spec/rulings.md 5). */
const KEPT_HOURS = 48;
/** Small enough to hold no lock for long. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/** Forgets old answers, a chunk at a time, until disposed. */
export const startIdempotencyKeyExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      // Another full chunk is likely after a full one, so there is no pause between them.
      while (!signal.aborted && (await deleteExpiredResponses(db, KEPT_HOURS, CHUNK)) === CHUNK);
    },
    onError,
  });
