import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredReservations } from "../store/reservations.ts";

/** Small, so that locks are short. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/**
 * Deletes sessions that expired long ago in chunks, until disposed. Not urgent: every query ignores expired
 * sessions.
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
