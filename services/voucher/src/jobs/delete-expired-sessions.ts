import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { deleteExpiredReservations } from "../store/reservations.ts";

/** Deletes sessions that expired long ago, until disposed. Not urgent: every query ignores them already. */
export const startSessionExpiry = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable => startExpiryJob((limit) => deleteExpiredReservations(db, limit), onError);
