import type { PartitionedTable } from "@scrip/postgres";

import type { LogRetention } from "./pg/log-retention.ts";
import type { Relay } from "./relay.ts";

const HOUR_MS = 3_600_000;

/**
 * The partitions of a service's outbox. A row is retained until it is published and all groups have handled it; one
 * that waits for a group, as long as the log retains it.
 */
export const outboxTable = (
  { keepMs, keepUnhandledMs }: LogRetention,
  relay: Pick<Relay, "unpublishedSince" | "unhandledSince">,
): PartitionedTable => ({
  table: "outbox",
  column: "created_at",
  everyMs: 2 * HOUR_MS,
  keepMs,
  neededSince: async (_client, now) => {
    // First: a row that is published meanwhile was found as one that waits.
    const unpublished = (await relay.unpublishedSince()) ?? now;
    const unhandled = (await relay.unhandledSince()) ?? now;
    const expired = now.getTime() - keepUnhandledMs;
    return new Date(Math.min(unpublished.getTime(), Math.max(unhandled.getTime(), expired)));
  },
});
