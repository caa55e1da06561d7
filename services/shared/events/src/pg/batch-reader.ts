import { createBatcher } from "@scrip/batching";
import type { Queryable } from "@scrip/postgres";

import { type LogBatch, readBatches } from "./log.ts";

/** Consecutive batches of a topic. */
export type Batches = readonly LogBatch[];

/**
 * Reads batches once for all groups of a process, which are usually close together: it caches the last ones of each
 * topic and shares statements in flight. Batches never change.
 */
export type BatchReader = {
  readonly cached: (topic: string) => Batches;
  /** Reads the batches of each topic from an offset on; those before it may come too. */
  readonly load: (from: ReadonlyMap<string, bigint>) => Promise<ReadonlyMap<string, Batches>>;
  /** Statements that have begun are not shared any more. */
  readonly outdate: () => void;
};

/** Limit of the cached batches of a topic; more were read by a member that is behind. */
const MAX_CACHED_BYTES = 262_144;
/** So that a member that is far behind does not delay the others. */
const LANES = 2;
const MAX_TOPICS = 100;

/** A statement that has begun or is about to, and its position in a topic. */
type Reading = { readonly from: bigint; readonly found: Promise<ReadonlyMap<string, Batches>> };

export function createBatchReader(db: Queryable): BatchReader {
  const cache = new Map<string, Batches>();
  const readings = new Map<string, Reading>();

  const store = (topic: string, batches: Batches): void => {
    const before = cache.get(topic) ?? [];
    const follows = batches[0]?.firstOffset === endOf(before);
    if (follows) cache.set(topic, newestOf([...before, ...batches]));
    // A member that is behind must not replace what the others need.
    else if (endOf(batches) > endOf(before)) cache.set(topic, newestOf(batches));
  };

  /** Members wake at the same times: what they request in one iteration of the event loop is one statement. */
  const readTogether = createBatcher({
    lanes: LANES,
    maxBatch: MAX_TOPICS,
    async send(wanted: readonly (readonly [topic: string, offset: bigint])[]) {
      const found = await readBatches(db, lowestOf(wanted));
      for (const [topic, batches] of found) store(topic, batches);
      return wanted.map(() => found);
    },
  });

  const start = (topic: string, from: bigint): void => {
    const reading = { from, found: readTogether([topic, from]) };
    readings.set(topic, reading);
    const forget = (): void => {
      if (readings.get(topic) === reading) readings.delete(topic);
    };
    reading.found.then(forget, forget);
  };

  return {
    cached: (topic) => cache.get(topic) ?? [],
    async load(from) {
      const shared = [...from].map(([topic, offset]) => {
        const underWay = readings.get(topic);
        if (underWay === undefined || underWay.from > offset) start(topic, offset);
        return [topic, readings.get(topic)?.found] as const;
      });
      const batches = new Map<string, Batches>();
      for (const [topic, found] of shared) batches.set(topic, (await found)?.get(topic) ?? []);
      return batches;
    },
    outdate: () => readings.clear(),
  };
}

/** The lowest of the offsets of each topic. */
export function lowestOf(
  offsets: Iterable<readonly [topic: string, offset: bigint]>,
): ReadonlyMap<string, bigint> {
  const lowest = new Map<string, bigint>();
  for (const [topic, offset] of offsets) {
    const before = lowest.get(topic);
    if (before === undefined || offset < before) lowest.set(topic, offset);
  }
  return lowest;
}

/** The offset after the last batch. */
export const endOf = (batches: Batches): bigint => batches.at(-1)?.end ?? 0n;

/** As many of the last batches as the cache holds. */
function newestOf(batches: Batches): Batches {
  let bytes = 0;
  const tooMany = batches.findLastIndex(({ size }) => {
    bytes += size;
    return bytes > MAX_CACHED_BYTES;
  });
  return batches.slice(tooMany + 1);
}
