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

/** A statement in flight, and its position in a topic. */
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

  const read = async (from: ReadonlyMap<string, bigint>): Promise<ReadonlyMap<string, Batches>> => {
    const found = await readBatches(db, from);
    for (const [topic, batches] of found) store(topic, batches);
    return found;
  };

  const start = (from: ReadonlyMap<string, bigint>): void => {
    if (from.size === 0) return;
    const found = read(from);
    for (const [topic, offset] of from) readings.set(topic, { from: offset, found });
    const forget = (): void => {
      for (const topic of from.keys()) {
        if (readings.get(topic)?.found === found) readings.delete(topic);
      }
    };
    found.then(forget, forget);
  };

  return {
    cached: (topic) => cache.get(topic) ?? [],
    async load(from) {
      const fresh = [...from].filter(([topic, offset]) => {
        const underWay = readings.get(topic);
        return underWay === undefined || underWay.from > offset;
      });
      start(new Map(fresh));
      const shared = [...from.keys()].map((topic) => [topic, readings.get(topic)?.found] as const);
      const batches = new Map<string, Batches>();
      for (const [topic, found] of shared) batches.set(topic, (await found)?.get(topic) ?? []);
      return batches;
    },
    outdate: () => readings.clear(),
  };
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
