import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { trimDeliveries } from "../store/webhook-deliveries.ts";

const EVERY_MS = 60 * 60_000;

export type TrimOptions = {
  readonly db: Database;
  readonly keepMs: number;
  readonly onError: (error: Error) => void;
};

/** Deletes deliveries of webhooks that are older than `keepMs`, until disposed. */
export const startDeliveryTrim = ({ db, keepMs, onError }: TrimOptions): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => trimDeliveries(db, keepMs), onError });
