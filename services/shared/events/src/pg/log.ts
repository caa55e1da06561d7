import {
  byteaArray,
  int4Array,
  type Queryable,
  sparseText,
  textArray,
  timestampArray,
} from "@scrip/postgres";

import { checkPublishable, type DeliveredEvent, type EventEnvelope } from "../bus.ts";
import { partitionOf } from "../partition.ts";

/** One partition of a topic. */
export type PartitionId = { readonly topic: string; readonly partition: number };

export const keyOf = ({ topic, partition }: PartitionId): string => `${partition}:${topic}`;

export type Position = PartitionId & { readonly offset: bigint };

/** How much one partition may read into memory at once; a single larger event is still read. */
const MAX_FETCH_BYTES = 4_194_304;

/**
 * Appends the events in one statement and so in one transaction. Offsets come from the row of the
 * partition, which stays locked until the commit: they have no gaps and become visible in their
 * order. The rows are locked in sorted order, so that two writers never deadlock.
 */
export async function appendToLog(db: Queryable, batch: readonly EventEnvelope[]): Promise<void> {
  if (batch.length === 0) return;
  checkPublishable(batch);
  const { partitions, extents } = planExtents(batch);
  await db.query({
    name: "bus_append",
    text: `with extent as (
             insert into bus_partition as p (topic, partition, next_offset)
             select * from unnest($1::text[], $2::int[], $3::int[])
                 on conflict (topic, partition) do update
                set next_offset = p.next_offset + excluded.next_offset
             returning topic, partition, next_offset
           )
           insert into bus_log (topic, partition, log_offset, id, project_id, key, type, headers,
                                payload, occurred_at)
           select topic, partition, next_offset - from_end, id, project_id, key, type, headers,
                  payload, occurred_at
             from unnest($4::text[], $5::int[], $6::int[], $7::text[], $8::text[], $9::text[],
                         $10::text[], $11::text[]::jsonb[], $12::bytea[], $13::timestamptz[])
                  as event (topic, partition, from_end, id, project_id, key, type, headers, payload,
                            occurred_at)
             join extent using (topic, partition)`,
    values: [
      textArray(extents.map((extent) => extent.topic)),
      int4Array(extents.map((extent) => extent.partition)),
      int4Array(extents.map((extent) => extent.count)),
      textArray(batch.map((event) => event.topic)),
      int4Array(partitions.map(({ extent }) => extent.partition)),
      int4Array(partitions.map(({ extent, rank }) => extent.count - rank)),
      textArray(batch.map((event) => event.id)),
      textArray(batch.map((event) => event.projectId)),
      textArray(batch.map((event) => event.key)),
      textArray(batch.map((event) => event.type ?? null)),
      sparseText(batch.map((event) => toHeaders(event.headers))),
      byteaArray(batch.map((event) => event.payload)),
      timestampArray(batch.map((event) => event.occurredAt.getTime())),
    ],
  });
}

/** How many entries a batch adds to a partition. */
type Extent = PartitionId & { count: number };

/** The partition of each event, and the partitions in the order of locking. */
function planExtents(batch: readonly EventEnvelope[]): {
  readonly partitions: readonly { readonly extent: Extent; readonly rank: number }[];
  readonly extents: readonly Extent[];
} {
  const byKey = new Map<string, Extent>();
  const partitions = batch.map(({ topic, projectId, key }) => {
    const partition = partitionOf(projectId, key);
    const id = `${topic} ${String(partition).padStart(4, "0")}`;
    let extent = byKey.get(id);
    if (extent === undefined) byKey.set(id, (extent = { topic, partition, count: 0 }));
    extent.count += 1;
    return { extent, rank: extent.count - 1 };
  });
  const extents = [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, extent]) => extent);
  return { partitions, extents };
}

type LogRow = {
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
 * Reads from each position, at most `limit` events of a partition; returns one array per partition
 * that has any.
 */
export async function readLog(
  db: Queryable,
  positions: readonly Position[],
  limit: number,
): Promise<readonly (readonly DeliveredEvent[])[]> {
  const { rows } = await db.query<LogRow>({
    name: "bus_read",
    planning: "indexLookups",
    text: `select event.*
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
    values: [
      positions.map((position) => position.topic),
      positions.map((position) => position.partition),
      positions.map((position) => position.offset),
      limit,
      MAX_FETCH_BYTES,
    ],
  });
  return byPartition(rows.map(fromRow));
}

function byPartition(events: readonly DeliveredEvent[]): DeliveredEvent[][] {
  const batches: DeliveredEvent[][] = [];
  for (const event of events) {
    const batch = batches.at(-1);
    const first = batch?.[0];
    if (first?.topic === event.topic && first.partition === event.partition) batch?.push(event);
    else batches.push([event]);
  }
  return batches;
}

const toHeaders = (headers: EventEnvelope["headers"]): string | null => {
  const text = JSON.stringify(headers);
  return text === "{}" ? null : text;
};

export const fromRow = (row: LogRow): DeliveredEvent => ({
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
