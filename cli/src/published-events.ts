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
    "select to_regclass('bus_log') is not null as exists",
  );
  return rows[0]?.exists === true ? readLog(bus, projectId) : null;
}

type Entry = {
  readonly partition: number;
  readonly log_offset: bigint;
  readonly project_id: string;
  readonly payload: Uint8Array;
};

async function* readLog(bus: Queryable, projectId: string): AsyncGenerator<Uint8Array> {
  let after: Pick<Entry, "partition" | "log_offset"> = { partition: -1, log_offset: 0n };
  for (;;) {
    // In the order of the key, for all projects: an index by project would serve only this command.
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
