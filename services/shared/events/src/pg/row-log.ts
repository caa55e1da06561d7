import type { Queryable } from "@scrip/postgres";

import type { DeliveredEvent } from "../bus.ts";
import type { Position } from "./log.ts";

/** How much one partition may read into memory at once; a single larger event is still read. */
const MAX_FETCH_BYTES = 4_194_304;

export type EventRow = {
  readonly topic: string;
  readonly partition: number;
  readonly log_offset: bigint;
  readonly id: string;
  readonly project_id: string;
  readonly key: string;
  readonly type: string | null;
  readonly headers: Record<string, string> | null;
  readonly payload: Uint8Array;
  readonly occurred_at: Date;
};

/**
 * Reads entries of the log of earlier releases, which had a row for each event and offsets per partition: at most
 * `limit` of a partition, in the order of topic, partition and offset.
 */
export async function readRowLog(
  db: Queryable,
  positions: readonly Position[],
  limit: number,
): Promise<readonly DeliveredEvent[]> {
  const { rows } = await db.query<EventRow>(
    `select event.*
       from unnest($1::text[], $2::int[], $3::bigint[]) as want (topic, partition, log_offset)
      cross join lateral (
            select topic, partition, log_offset, id, project_id, key, type, headers, payload,
                   occurred_at
              from (select l.*, octet_length(payload) as size,
                           sum(octet_length(payload)) over (order by l.log_offset) as bytes
                      from (select * from bus_log
                             where topic = want.topic and partition = want.partition
                               and log_offset >= want.log_offset
                             order by log_offset
                             limit $4) as l) as sized
             where bytes - size < $5) as event
      order by topic, partition, log_offset`,
    [
      positions.map((position) => position.topic),
      positions.map((position) => position.partition),
      positions.map((position) => position.offset),
      limit,
      MAX_FETCH_BYTES,
    ],
  );
  return rows.map(fromRow);
}

export const fromRow = (row: EventRow): DeliveredEvent => ({
  id: row.id,
  topic: row.topic,
  key: row.key,
  projectId: row.project_id,
  ...(row.type !== null && { type: row.type }),
  payload: row.payload,
  headers: row.headers ?? {},
  occurredAt: row.occurred_at,
  partition: row.partition,
  offset: row.log_offset,
});
