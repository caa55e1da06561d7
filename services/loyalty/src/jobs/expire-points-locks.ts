import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { deleteExpiredLocks } from "../store/points-locks.ts";

/** Deletes expired points locks of sessions, until disposed; every reader ignores them already. */
export const startPointsLockExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable => startExpiryJob((limit) => deleteExpiredLocks(db, limit), onError);
