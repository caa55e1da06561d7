import type { Queryable } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { deleteExpired } from "./stored-requests.ts";

/** Deletes expired idempotency keys, until disposed. */
export const startKeyExpiry = (db: Queryable, onError: (error: Error) => void): AsyncDisposable =>
  startExpiryJob((limit) => deleteExpired(db, limit), onError);
