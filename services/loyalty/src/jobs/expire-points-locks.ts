import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredLocks } from "../store/points-locks.ts";

/** Rows per statement: small, so that locks are held briefly. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/** Deletes expired points locks of sessions, until disposed; every reader ignores them already. */
export const startPointsLockExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      while (!signal.aborted && (await deleteExpiredLocks(db, CHUNK)) === CHUNK);
    },
    onError,
  });
