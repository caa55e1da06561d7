import { byteaArray, int4Array, type Queryable, textArray } from "@scrip/postgres";

import { checkPublishable, type DeliveredEvent, type EventEnvelope } from "../bus.ts";
import { partitionOf } from "../partition.ts";
import { decodeBatch, encodeBatch } from "./batch-codec.ts";

/** One partition of a topic. */
export type PartitionId = { readonly topic: string; readonly partition: number };

export const keyOf = ({ topic, partition }: PartitionId): string => `${partition}:${topic}`;

/** The next offset that a partition reads; offsets count the events of the whole topic. */
export type Position = PartitionId & { readonly offset: bigint };

/** A row holds a batch of at most this size, except for a single larger event. */
const MAX_BATCH_BYTES = 262_144;
/** How much of a topic is read into memory at once. */
const MAX_FETCH_BYTES = 4_194_304;
const MAX_FETCH_ROWS = 200;

/**
 * Appends the events in one statement and so in one transaction. Offsets come from the row of the topic, which stays
 * locked until the commit: they have no gaps and become visible in their order. The rows are locked in sorted order,
 * so that two writers never deadlock.
 */
export async function appendToLog(db: Queryable, batch: readonly EventEnvelope[]): Promise<void> {
  if (batch.length === 0) return;
  checkPublishable(batch);
  const byTopic = [...Map.groupBy(batch, ({ topic }) => topic)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const rows = byTopic.flatMap(([topic, events]) => {
    let fromEnd = events.length;
    return splitBySize(events).map((some) => {
      const row = {
        topic,
        fromEnd,
        count: some.length,
        partitions: Buffer.from(some.map(({ projectId, key }) => partitionOf(projectId, key))),
        ...encodeBatch(some),
      };
      fromEnd -= some.length;
      return row;
    });
  });
  await db.query({
    name: "bus_append_batches",
    text: `with extent as (
             insert into bus_topic as t (topic, next_offset)
             select * from unnest($1::text[], $2::int[])
                 on conflict (topic) do update set next_offset = t.next_offset + excluded.next_offset
             returning topic, next_offset
           )
           insert into bus_batch (topic, first_offset, last_offset, partitions, size, events)
           select topic, next_offset - from_end, next_offset - from_end + count - 1, partitions, size,
                  events
             from unnest($3::text[], $4::int[], $5::int[], $6::bytea[], $7::int[], $8::bytea[])
                  as row (topic, from_end, count, partitions, size, events)
             join extent using (topic)`,
    values: [
      textArray(byTopic.map(([topic]) => topic)),
      int4Array(byTopic.map(([, events]) => events.length)),
      textArray(rows.map(({ topic }) => topic)),
      int4Array(rows.map(({ fromEnd }) => fromEnd)),
      int4Array(rows.map(({ count }) => count)),
      byteaArray(rows.map(({ partitions }) => partitions)),
      int4Array(rows.map(({ size }) => size)),
      byteaArray(rows.map(({ bytes }) => bytes)),
    ],
  });
}

function splitBySize(events: readonly EventEnvelope[]): readonly (readonly EventEnvelope[])[] {
  const batches: EventEnvelope[][] = [];
  let bytes = 0;
  for (const event of events) {
    bytes += event.payload.byteLength;
    const last = batches.at(-1);
    if (last !== undefined && bytes <= MAX_BATCH_BYTES) last.push(event);
    else {
      batches.push([event]);
      bytes = event.payload.byteLength;
    }
  }
  return batches;
}

/** A row of the log. */
export type LogBatch = {
  readonly topic: string;
  readonly firstOffset: bigint;
  /** The offset after its last event. */
  readonly end: bigint;
  /** Bytes in memory, about. */
  readonly size: number;
  readonly eventsOf: ReadonlyMap<number, readonly DeliveredEvent[]>;
};

type BatchRow = {
  readonly topic: string;
  readonly first_offset: bigint;
  readonly last_offset: bigint;
  readonly partitions: Uint8Array;
  readonly size: number;
  readonly events: Uint8Array;
};

/** Reads the oldest batches of each topic that have an event at or after its offset, in the order of the log. */
export async function readBatches(
  db: Queryable,
  from: ReadonlyMap<string, bigint>,
): Promise<ReadonlyMap<string, readonly LogBatch[]>> {
  const { rows } = await db.query<BatchRow>({
    name: "bus_read_batches",
    planning: "indexLookups",
    text: `select batch.*
             from unnest($1::text[], $2::bigint[]) as want (topic, log_offset)
            cross join lateral (
                  select topic, first_offset, last_offset, partitions, size, events
                    from (select l.*, sum(size) over (order by l.last_offset) as bytes
                            from (select * from bus_batch
                                   where topic = want.topic and last_offset >= want.log_offset
                                   order by last_offset
                                   limit ${MAX_FETCH_ROWS}) as l) as sized
                   where bytes - size < ${MAX_FETCH_BYTES}) as batch
            order by topic, last_offset`,
    values: [[...from.keys()], [...from.values()]],
  });
  return Map.groupBy(rows.map(fromBatchRow), ({ topic }) => topic);
}

function fromBatchRow(row: BatchRow): LogBatch {
  const { topic, first_offset: firstOffset } = row;
  const events = decodeBatch(row.events).map((event, index): DeliveredEvent => {
    const partition = row.partitions[index] ?? 0;
    return { ...event, topic, partition, offset: firstOffset + BigInt(index) };
  });
  return {
    topic,
    firstOffset,
    end: row.last_offset + 1n,
    size: row.size,
    eventsOf: Map.groupBy(events, ({ partition }) => partition),
  };
}

/** The first offset of each topic that is in a batch; smaller ones are in the log of rows. */
export async function readFirstBatches(
  db: Queryable,
  topics: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query<{ topic: string; first_batch: bigint }>(
    "select topic, first_batch from bus_topic where topic = any($1::text[])",
    [topics],
  );
  return new Map(rows.map((row) => [row.topic, row.first_batch]));
}

/**
 * The events of a topic that the log retains, in the order of each partition; for checks. Undefined when the log is in
 * another database.
 */
export async function* readRetainedEvents(
  db: Queryable,
  topic: string,
): AsyncGenerator<DeliveredEvent> {
  for (let from = 0n; ;) {
    const batches = (await readBatches(db, new Map([[topic, from]]))).get(topic) ?? [];
    for (const { eventsOf } of batches) for (const events of eventsOf.values()) yield* events;
    const last = batches.at(-1);
    if (last === undefined) return;
    from = last.end;
  }
}
