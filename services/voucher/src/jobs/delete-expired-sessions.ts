import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredReservations } from "../store/reservations.ts";

/** Small enough to hold no lock for long. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/**
 * Forgets sessions that expired long ago, a chunk at a time, until disposed. Nobody waits for it:
 * whoever counts ignores what has expired.
 */
export const startSessionExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      while (!signal.aborted && (await deleteExpiredReservations(db, CHUNK)) === CHUNK);
    },
    onError,
  });
