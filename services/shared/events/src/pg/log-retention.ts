import {
  type Database,
  keepPartitioned,
  type PartitionClient,
  type PartitionedTable,
} from "@scrip/postgres";

import { asError } from "../delivery.ts";
import { EVENTS_SCHEMA } from "./events-schema.ts";
import { trimRowLog } from "./row-log-trim.ts";

export type LogRetention = {
  /** Younger events are retained. */
  readonly keepMs: number;
  /** Unhandled events are retained for this long: a consumer group may never return. */
  readonly keepUnhandledMs: number;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const RETENTION: LogRetention = { keepMs: 72 * HOUR_MS, keepUnhandledMs: 14 * DAY_MS };

/** The log, of which a day is dropped when all groups have handled it. */
export const logTable = ({ keepMs, keepUnhandledMs }: LogRetention): PartitionedTable => ({
  table: "bus_batch",
  column: "published_at",
  everyMs: DAY_MS,
  keepMs,
  neededSince: async (client, now) => {
    const unhandled = (await oldestUnhandled(client)) ?? now;
    return new Date(Math.max(unhandled.getTime(), now.getTime() - keepUnhandledMs));
  },
});

/** When the oldest event that a group has not handled was published. */
async function oldestUnhandled(client: PartitionClient): Promise<Date | null> {
  const { rows } = await client.query<{ oldest: Date | null }>(
    `select min(published_at) as oldest
       from (select topic, min(log_offset) as log_offset from bus_offset group by topic) as o
      cross join lateral (
            select published_at from bus_batch
             where topic = o.topic and last_offset >= o.log_offset
             order by last_offset
             limit 1) as batch`,
  );
  return rows[0]?.oldest ?? null;
}

const TRIM_EVERY_MS = HOUR_MS / 6;
const TRIM_CHUNK = 2_000;

/** Drops expired days of the log, and deletes what remains of the log of earlier releases. Every process does so. */
export async function keepLogTrimmed({
  url,
  db,
  retention = RETENTION,
  onError,
}: {
  readonly url: string;
  readonly db: Database;
  readonly retention: LogRetention | undefined;
  readonly onError: (error: Error) => void;
}): Promise<{ readonly stop: () => Promise<void> }> {
  const tables = [logTable(retention)];
  const partitions = await keepPartitioned({ url, schema: EVENTS_SCHEMA, tables, onError });
  const { keepMs, keepUnhandledMs: keepUnreadMs } = retention;
  const timer = setInterval(() => {
    trimRowLog(db, { keepMs, keepUnreadMs, chunk: TRIM_CHUNK }).catch((error: unknown) =>
      onError(asError(error)),
    );
  }, TRIM_EVERY_MS);
  // The timer must not keep an idle process alive.
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await partitions[Symbol.asyncDispose]();
    },
  };
}
