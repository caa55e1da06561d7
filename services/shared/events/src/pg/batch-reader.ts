import { createBatcher } from "@scrip/batching";
import type { Queryable } from "@scrip/postgres";

import { type BatchCache, createBatchCache } from "./batch-cache.ts";
import { type LogBatch, readBatches } from "./log.ts";
import { SHARED_STATEMENTS } from "./shared-statements.ts";

/** Consecutive batches of a topic. */
type Batches = readonly LogBatch[];

/**
 * Reads batches once for all groups of a process: it caches those that were used last, and shares statements in flight.
 * Batches never change.
 */
export type BatchReader = {
  /** Cached batches from the one with this offset on; none if that one is not cached. */
  readonly cached: BatchCache["from"];
  /** Reads the batches of each topic from an offset on; those before it may come too. */
  readonly load: (from: ReadonlyMap<string, bigint>) => Promise<ReadonlyMap<string, Batches>>;
  /** Statements that have begun are not shared any more. */
  readonly outdate: () => void;
};

/**
 * Memory of the cached batches of all topics. In a backlog, groups differ in their positions, and each partition of a group
 * continues by itself: without the batches between them, each would read the whole topic again.
 */
const MAX_CACHED_BYTES = 16_777_216;

/** A statement that has begun or is about to, and its position in a topic. */
type Reading = { readonly from: bigint; readonly found: Promise<ReadonlyMap<string, Batches>> };

export function createBatchReader(db: Queryable): BatchReader {
  const cache = createBatchCache(MAX_CACHED_BYTES);
  const readings = new Map<string, Reading>();

  /** Members wake at the same times: what they request in one iteration of the event loop is one statement. */
  const readTogether = createBatcher({
    ...SHARED_STATEMENTS,
    async send(wanted: readonly Wanted[]) {
      const found = await readBatches(db, lowestOf(wanted));
      const beyond = new Set(wanted.filter((one) => isBeyond(one, found)));
      const later = await readBatches(db, lowestOf(beyond));
      for (const batches of [...found.values(), ...later.values()]) cache.store(batches);
      return wanted.map((one) => (beyond.has(one) ? later : found));
    },
  });

  const reading = (topic: string, from: bigint): Reading["found"] => {
    const underWay = readings.get(topic);
    if (underWay !== undefined && underWay.from <= from) return underWay.found;
    const started = { from, found: readTogether([topic, from]) };
    readings.set(topic, started);
    const forget = (): void => {
      if (readings.get(topic) === started) readings.delete(topic);
    };
    started.found.then(forget, forget);
    return started.found;
  };

  return {
    cached: cache.from,
    async load(from) {
      const shared = [...from].map((one) => [one, reading(...one)] as const);
      const batches = new Map<string, Batches>();
      for (const [one, found] of shared) {
        const read = await found;
        const own = isBeyond(one, read) ? await readTogether(one) : read;
        batches.set(one[0], own.get(one[0]) ?? []);
      }
      return batches;
    },
    outdate: () => readings.clear(),
  };
}

type Wanted = readonly [topic: string, offset: bigint];

/** Whether the batches end before the offset, because they were read for a member that is far behind as well. */
function isBeyond([topic, offset]: Wanted, found: ReadonlyMap<string, Batches>): boolean {
  const batches = found.get(topic);
  return batches !== undefined && endOf(batches) <= offset;
}

/** The lowest of the offsets of each topic. */
export function lowestOf(offsets: Iterable<Wanted>): ReadonlyMap<string, bigint> {
  const lowest = new Map<string, bigint>();
  for (const [topic, offset] of offsets) {
    const before = lowest.get(topic);
    if (before === undefined || offset < before) lowest.set(topic, offset);
  }
  return lowest;
}

/** The offset after the last batch. */
const endOf = (batches: Batches): bigint => batches.at(-1)?.end ?? 0n;
