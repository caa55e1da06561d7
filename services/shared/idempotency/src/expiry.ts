import type { Queryable } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteExpired } from "./stored-requests.ts";

/** Small, so that locks are short. */
const CHUNK = 1_000;
const EVERY_MS = 10 * 60_000;

/** Deletes expired idempotency keys in chunks, until disposed. */
export const startKeyExpiry = (db: Queryable, onError: (error: Error) => void): AsyncDisposable =>
  startPeriodicJob({
    everyMs: EVERY_MS,
    work: async (signal) => {
      while (!signal.aborted && (await deleteExpired(db, CHUNK)) === CHUNK);
    },
    onError,
  });
