import type { Queryable } from "@scrip/postgres";

import type { DeliveredEvent } from "../bus.ts";
import { createBatchReader, lowestOf } from "./batch-reader.ts";
import { type LogBatch, type PartitionId, type Position, readFirstBatches } from "./log.ts";
import { readRowLog } from "./row-log.ts";

/** What a partition read: its events, which may be none, and the offset to continue with. */
export type PartitionBatch = PartitionId & {
  readonly events: readonly DeliveredEvent[];
  readonly next: bigint;
};

export type LogReader = {
  /** Reads from each position, at most `limit` events of a partition. */
  readonly read: (
    positions: readonly Position[],
    limit: number,
  ) => Promise<readonly PartitionBatch[]>;
  /**
   * Call it after a publication: reads that began before may not see it, and are not shared any
   * more.
   */
  readonly outdate: () => void;
};

/** A reader for all groups of a process. */
export function createLogReader(db: Queryable): LogReader {
  const reader = createBatchReader(db);
  const firstBatches = new Map<string, bigint>();
  const firstBatch = (topic: string): bigint => firstBatches.get(topic) ?? 0n;

  const loadFirstBatches = async (positions: readonly Position[]): Promise<void> => {
    const topics = new Set(positions.map(({ topic }) => topic));
    const unknown = [...topics].filter((topic) => !firstBatches.has(topic));
    if (unknown.length === 0) return;
    const known = await readFirstBatches(db, unknown);
    // A topic without a row has no events yet, and its first one will be in a batch.
    for (const topic of unknown) firstBatches.set(topic, known.get(topic) ?? 0n);
  };

  const readRows = async (
    positions: readonly Position[],
    limit: number,
  ): Promise<readonly PartitionBatch[]> => {
    if (positions.length === 0) return [];
    const rows = await readRowLog(db, positions, limit);
    return positions.map(({ topic, partition }) => {
      const events = rows.filter((row) => row.topic === topic && row.partition === partition);
      const last = events.at(-1);
      return { topic, partition, events, next: last ? last.offset + 1n : firstBatch(topic) };
    });
  };

  const readUncached = async (
    positions: readonly Position[],
    limit: number,
  ): Promise<readonly PartitionBatch[]> => {
    const batches = await reader.load(
      lowestOf(positions.map(({ topic, offset }) => [topic, offset])),
    );
    return positions.map((position) => pick(position, batches.get(position.topic) ?? [], limit));
  };

  return {
    async read(positions, limit) {
      await loadFirstBatches(positions);
      const found: PartitionBatch[] = [];
      const inRows: Position[] = [];
      const uncached: Position[] = [];
      for (const position of positions) {
        if (position.offset < firstBatch(position.topic)) {
          inRows.push(position);
          continue;
        }
        const batch = pick(position, reader.cached(position.topic, position.offset), limit);
        if (batch.events.length > 0) found.push(batch);
        else uncached.push({ ...position, offset: batch.next });
      }
      const others = await Promise.all([readRows(inRows, limit), readUncached(uncached, limit)]);
      return [...found, ...others.flat()];
    },
    outdate: reader.outdate,
  };
}

function pick(
  { topic, partition, offset }: Position,
  batches: Iterable<LogBatch>,
  limit: number,
): PartitionBatch {
  const events: DeliveredEvent[] = [];
  let next = offset;
  for (const batch of batches) {
    if (batch.end <= offset) continue;
    for (const event of batch.eventsOf.get(partition) ?? []) {
      if (event.offset < offset) continue;
      if (events.length === limit) return { topic, partition, events, next: event.offset };
      events.push(event);
    }
    next = batch.end;
  }
  return { topic, partition, events, next };
}
