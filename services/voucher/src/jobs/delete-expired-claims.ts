import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { deleteExpiredClaims } from "../store/points-claims.ts";

/** Longer than any request, so that no commit refers to a release that was deleted. */
export const CLAIM_RETENTION_HOURS = 48;

/** Deletes old claims of released points holds, until disposed. Safe to run in several processes. */
export const startClaimExpiry = (db: Database, onError: (error: Error) => void): AsyncDisposable =>
  startExpiryJob((limit) => deleteExpiredClaims(db, CLAIM_RETENTION_HOURS, limit), onError);
