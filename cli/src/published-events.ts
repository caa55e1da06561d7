import { readRetainedEvents } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

const TOPIC = "scrip.redemptions.v1";
/** The other event types are about rejections and rollbacks. */
const TYPE = "scrip.events.v1.RedemptionMade";
const CHUNK = 5_000;

export type PublishedEvents = {
  readonly payloads: AsyncIterable<Uint8Array>;
  /** Events published since then are retained; in milliseconds. */
  readonly since: number;
};

/**
 * The redemption events of a project that the Postgres event bus retains, or null when the bus is in
 * another database.
 */
export async function readPublished(
  bus: Queryable,
  projectId: string,
): Promise<PublishedEvents | null> {
  const { rows } = await bus.query<{ exists: boolean }>(
    "select to_regclass('bus_batch') is not null as exists",
  );
  if (rows[0]?.exists !== true) return null;
  return { payloads: readBoth(bus, projectId), since: await retainedSince(bus) };
}

/** The publication of the oldest batch, if others before it were dropped. */
async function retainedSince(bus: Queryable): Promise<number> {
  const { rows } = await bus.query<{ since: Date | null }>(
    `select coalesce(oldest.published_at, now()) as since
       from bus_topic
       left join lateral (
            select first_offset, published_at from bus_batch
             where topic = '${TOPIC}'
             order by last_offset
             limit 1) as oldest on true
      where topic = '${TOPIC}' and coalesce(oldest.first_offset, next_offset) > first_batch`,
  );
  return rows[0]?.since?.getTime() ?? 0;
}

/** The log, and what is left of the log of earlier releases. For all projects: no index serves only this command. */
async function* readBoth(bus: Queryable, projectId: string): AsyncGenerator<Uint8Array> {
  yield* readRowLog(bus, projectId);
  for await (const event of readRetainedEvents(bus, TOPIC)) {
    if (event.projectId === projectId && event.type === TYPE) yield event.payload;
  }
}

type Entry = {
  readonly partition: number;
  readonly log_offset: bigint;
  readonly project_id: string;
  readonly payload: Uint8Array;
};

async function* readRowLog(bus: Queryable, projectId: string): AsyncGenerator<Uint8Array> {
  let after: Pick<Entry, "partition" | "log_offset"> = { partition: -1, log_offset: 0n };
  for (;;) {
    const { rows } = await bus.query<Entry>(
      `select partition, log_offset, project_id, payload
         from bus_log
        where topic = '${TOPIC}' and (partition, log_offset) > ($1, $2)
          and (type is null or type = '${TYPE}')
        order by partition, log_offset
        limit ${CHUNK}`,
      [after.partition, after.log_offset],
    );
    for (const row of rows) if (row.project_id === projectId) yield row.payload;
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) return;
    after = last;
  }
}
