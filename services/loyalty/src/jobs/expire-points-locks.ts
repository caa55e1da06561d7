import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpiredLocks } from "../store/points-locks.ts";

/** Small enough to hold no lock for long. */
const CHUNK = 1000;
const EVERY_MS = 10 * 60_000;

/** Forgets what sessions held of cards long ago, until disposed; whoever counts ignores it anyway. */
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
