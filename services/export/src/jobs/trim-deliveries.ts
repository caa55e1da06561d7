import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { trimDeliveries } from "../store/webhook-deliveries.ts";

const EVERY_MS = 60 * 60_000;
const KEEP_MS = 30 * 24 * 60 * 60_000;

/** Deletes deliveries of webhooks after 30 days, until disposed. */
export const startDeliveryTrim = (db: Database, onError: (error: Error) => void): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => trimDeliveries(db, KEEP_MS), onError });
