import { byteaArray, int4Array, type Queryable, textArray } from "@scrip/postgres";

import {
  checkPublishable,
  type DeliveredEvent,
  type EventEnvelope,
  type OutboxEntry,
} from "../bus.ts";
import type { StoredEvent } from "../event-codec.ts";
import { partitionOf } from "../partition.ts";
import { decodeBatch, encodeBatch } from "./batch-codec.ts";
import { readOutboxes } from "./outbox-rows.ts";
import { decodeReference, encodeReference, isReference } from "./reference-codec.ts";

/** One partition of a topic. */
export type PartitionId = { readonly topic: string; readonly partition: number };

export const keyOf = ({ topic, partition }: PartitionId): string => `${partition}:${topic}`;

/** The next offset that a partition reads; offsets count the events of the whole topic. */
export type Position = PartitionId & { readonly offset: bigint };

/** A row holds a batch of at most this size, except for a single larger event. */
const MAX_BATCH_BYTES = 262_144;
/** How much one statement reads into memory: each topic its part, and at least one batch. */
const MAX_FETCH_BYTES = 4_194_304;
const MAX_FETCH_ROWS = 200;

/** Appends the events themselves. */
export async function appendToLog(db: Queryable, batch: readonly EventEnvelope[]): Promise<void> {
  checkPublishable(batch);
  await append(
    db,
    splitByTopic(batch, ({ payload }) => payload.byteLength).map(({ topic, entries }) => ({
      topic,
      partitions: Buffer.from(entries.map(({ projectId, key }) => partitionOf(projectId, key))),
      writtenAt: null,
      ...encodeBatch(entries),
    })),
  );
}

/** Appends references to rows of the outbox in this schema of the same database. */
export async function appendReferences(
  db: Queryable,
  schema: string,
  batch: readonly OutboxEntry[],
): Promise<void> {
  await append(
    db,
    splitByTopic(batch, ({ size }) => size).map(({ topic, entries }) => {
      const written = entries.map(({ createdAt }) => createdAt.getTime());
      const since = new Date(Math.min(...written));
      const until = new Date(Math.max(...written));
      return {
        topic,
        partitions: Buffer.from(entries.map(({ partition }) => partition)),
        writtenAt: since,
        size: entries.reduce((sum, { size }) => sum + size, 0),
        bytes: encodeReference({ schema, since, until, seqs: entries.map(({ seq }) => seq) }),
      };
    }),
  );
}

/** A new row of the log. */
type NewBatch = {
  readonly topic: string;
  readonly partitions: Uint8Array;
  readonly writtenAt: Date | null;
  readonly size: number;
  readonly bytes: Uint8Array;
};

/**
 * Appends the batches in one statement and so in one transaction. Offsets come from the row of the topic, which stays
 * locked until the commit: they have no gaps and become visible in their order. The rows are locked in sorted order,
 * so that two writers never deadlock.
 */
async function append(db: Queryable, batches: readonly NewBatch[]): Promise<void> {
  if (batches.length === 0) return;
  const byTopic = [...Map.groupBy(batches, ({ topic }) => topic)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const counts = byTopic.map(([, some]) =>
    some.reduce((sum, { partitions }) => sum + partitions.length, 0),
  );
  const rows = byTopic.flatMap(([, some], index) => {
    let fromEnd = counts[index] ?? 0;
    return some.map((batch) => {
      const row = { ...batch, fromEnd, count: batch.partitions.length };
      fromEnd -= row.count;
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
           insert into bus_batch
                  (topic, first_offset, last_offset, partitions, size, events, written_at)
           select topic, next_offset - from_end, next_offset - from_end + count - 1, partitions, size,
                  events, written_at
             from unnest($3::text[], $4::int[], $5::int[], $6::bytea[], $7::int[], $8::bytea[],
                         $9::timestamptz[])
                  as row (topic, from_end, count, partitions, size, events, written_at)
             join extent using (topic)`,
    values: [
      textArray(byTopic.map(([topic]) => topic)),
      int4Array(counts),
      textArray(rows.map(({ topic }) => topic)),
      int4Array(rows.map(({ fromEnd }) => fromEnd)),
      int4Array(rows.map(({ count }) => count)),
      byteaArray(rows.map(({ partitions }) => partitions)),
      int4Array(rows.map(({ size }) => size)),
      byteaArray(rows.map(({ bytes }) => bytes)),
      rows.map(({ writtenAt }) => writtenAt),
    ],
  });
}

/** Runs of the entries of a topic, of at most `MAX_BATCH_BYTES`. */
function splitByTopic<Entry extends { readonly topic: string }>(
  entries: readonly Entry[],
  sizeOf: (entry: Entry) => number,
): readonly { readonly topic: string; readonly entries: readonly Entry[] }[] {
  return [...Map.groupBy(entries, ({ topic }) => topic)].flatMap(([topic, some]) => {
    const batches: Entry[][] = [];
    let bytes = 0;
    for (const entry of some) {
      bytes += sizeOf(entry);
      const last = batches.at(-1);
      if (last !== undefined && bytes <= MAX_BATCH_BYTES) last.push(entry);
      else {
        batches.push([entry]);
        bytes = sizeOf(entry);
      }
    }
    return batches.map((batch) => ({ topic, entries: batch }));
  });
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
  if (from.size === 0) return new Map();
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
                   where bytes - size < $3::bigint) as batch
            order by topic, last_offset`,
    values: [[...from.keys()], [...from.values()], Math.ceil(MAX_FETCH_BYTES / from.size)],
  });
  const events = await readEvents(
    db,
    rows.map((row) => row.events),
  );
  const batches = rows.map((row, index) => fromBatchRow(row, events[index] ?? []));
  return Map.groupBy(batches, ({ topic }) => topic);
}

/** Of each row, its events in their order; undefined for those that its outbox has dropped. */
async function readEvents(
  db: Queryable,
  rows: readonly Uint8Array[],
): Promise<readonly (readonly (StoredEvent | undefined)[])[]> {
  const references = rows.map((bytes) => (isReference(bytes) ? decodeReference(bytes) : undefined));
  const outboxes = await readOutboxes(
    db,
    references.filter((reference) => reference !== undefined),
  );
  return rows.map((bytes, index) => {
    const reference = references[index];
    if (reference === undefined) return decodeBatch(bytes);
    return reference.seqs.map((seq) => outboxes.get(reference.schema)?.get(seq));
  });
}

/** Bytes in memory beside the fields of events: the objects of a batch, and those of an event with its short fields. */
const BATCH_BYTES = 500;
const EVENT_BYTES = 800;

function fromBatchRow(row: BatchRow, stored: readonly (StoredEvent | undefined)[]): LogBatch {
  const { topic, first_offset: firstOffset } = row;
  const events = stored.flatMap((event, index): readonly DeliveredEvent[] => {
    if (event === undefined) return [];
    const partition = row.partitions[index] ?? 0;
    return [{ ...event, topic, partition, offset: firstOffset + BigInt(index) }];
  });
  return {
    topic,
    firstOffset,
    end: row.last_offset + 1n,
    size: row.size + BATCH_BYTES + events.length * EVENT_BYTES,
    eventsOf: Map.groupBy(events, ({ partition }) => partition),
  };
}

/** The next offset of each topic. */
export type LogEnds = ReadonlyMap<string, bigint>;

export async function readLogEnds(db: Queryable): Promise<LogEnds> {
  const { rows } = await db.query<{ topic: string; next_offset: bigint }>({
    name: "bus_ends",
    text: "select topic, next_offset from bus_topic",
    values: [],
  });
  return new Map(rows.map((row) => [row.topic, row.next_offset]));
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
