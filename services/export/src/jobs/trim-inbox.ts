import { trimInbox } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { type Retention, startPeriodicJob } from "@scrip/rpc";

const EVERY_MS = 60 * 60_000;

/** Deletes inbox entries of events that are too old to be delivered again, until disposed. */
export const startInboxTrim = (
  db: Database,
  { inboxMs }: Retention,
  onError: (error: Error) => void,
): AsyncDisposable =>
  startPeriodicJob({ everyMs: EVERY_MS, work: () => trimInbox(db, inboxMs), onError });
