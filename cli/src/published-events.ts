import { readRetainedEvents } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

const TOPIC = "scrip.redemptions.v1";
/** The other event types are about rejections and rollbacks. */
const TYPE = "scrip.events.v1.RedemptionMade";
const CHUNK = 5_000;

/**
 * The payloads of the redemption events of a project that the Postgres event bus retains, or null
 * when the bus is in another database.
 */
export async function readPublished(
  bus: Queryable,
  projectId: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  const { rows } = await bus.query<{ exists: boolean }>(
    "select to_regclass('bus_batch') is not null as exists",
  );
  return rows[0]?.exists === true ? readBoth(bus, projectId) : null;
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
