import type { Database } from "@scrip/postgres";
import { startPeriodicJob } from "@scrip/rpc";

import { deleteHiddenWebhooks } from "../store/deleted-webhooks.ts";
import { trimDeliveries } from "../store/webhook-deliveries.ts";

const EVERY_MS = 60 * 60_000;
const EVERY_MS_OF_HIDDEN = 60_000;

export type TrimOptions = {
  readonly db: Database;
  readonly keepMs: number;
  readonly onError: (error: Error) => void;
};

/** Deletes deliveries of webhooks that are older than `keepMs`, until disposed. */
export const startDeliveryTrim = ({ db, keepMs, onError }: TrimOptions): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => trimDeliveries(db, keepMs), onError });

/** Deletes the deliveries of deleted webhooks, until disposed. */
export const startWebhookDeletion = ({
  db,
  onError,
}: Pick<TrimOptions, "db" | "onError">): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS_OF_HIDDEN, work: () => deleteHiddenWebhooks(db), onError });
