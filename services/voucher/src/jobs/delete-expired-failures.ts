import { currentTime } from "@scrip/clock";
import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";
import type { Metrics } from "@scrip/telemetry";

import { deleteFailures } from "../store/expired-failures.ts";

export type ExpiryOptions = {
  readonly db: Database;
  readonly keepMs: number;
  readonly metrics: Metrics | undefined;
  readonly onError: (error: Error) => void;
};

/** Deletes failed redemptions and rollbacks that are older than `keepMs`, until disposed. Safe to run in several processes. */
export function startFailureExpiry({
  db,
  keepMs,
  metrics,
  onError,
}: ExpiryOptions): AsyncDisposable {
  const expired = metrics?.counter({
    name: "expired_failures_total",
    help: "Failed redemptions and rollbacks that were deleted because of their age",
  });
  return startExpiryJob(async (limit) => {
    const expiry = { before: currentTime() - keepMs, limit };
    const redemptions = await deleteFailures(db, { ...expiry, table: "redemption" });
    const rollbacks = await deleteFailures(db, { ...expiry, table: "redemption_rollback" });
    expired?.inc(redemptions + rollbacks);
    return Math.max(redemptions, rollbacks);
  }, onError);
}
