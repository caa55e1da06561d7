import type { Queryable } from "@scrip/postgres";

const TOPIC = "scrip.redemptions.v1";
/** Others tell of what was refused or rolled back. */
const TYPE = "scrip.events.v1.RedemptionMade";
const CHUNK = 5_000;

/**
 * The payloads of a project's events of redemptions made that the bus in Postgres keeps, or null where the
 * bus is not in this database.
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
    // In the order of the key, all projects: there is no index by project, which nobody else needs.
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
