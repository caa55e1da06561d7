import type { LogBatch } from "./log.ts";

export type BatchCache = {
  /**
   * Consecutive batches of the topic from the one with this offset on; none if that one is not cached. Those that are not
   * read are not used. Read them before anything else is stored.
   */
  readonly from: (topic: string, offset: bigint) => Iterable<LogBatch>;
  readonly store: (batches: readonly LogBatch[]) => void;
};

/** Batches of all topics, up to a size; those that were not used for the longest time leave first. */
export function createBatchCache(maxBytes: number): BatchCache {
  /** Of each topic by their offsets, with gaps. */
  const topics = new Map<string, LogBatch[]>();
  /** The least recently used batch first. */
  const used = new Set<LogBatch>();
  let bytes = 0;

  const use = (batch: LogBatch): void => {
    used.delete(batch);
    used.add(batch);
  };

  const add = (batch: LogBatch): void => {
    const batches = topics.get(batch.topic) ?? [];
    const at = firstAfter(batches, batch.firstOffset);
    if (batches[at]?.firstOffset === batch.firstOffset) return;
    batches.splice(at, 0, batch);
    topics.set(batch.topic, batches);
    use(batch);
    bytes += batch.size;
  };

  const evict = (batch: LogBatch): void => {
    const batches = topics.get(batch.topic) ?? [];
    batches.splice(firstAfter(batches, batch.firstOffset), 1);
    if (batches.length === 0) topics.delete(batch.topic);
    used.delete(batch);
    bytes -= batch.size;
  };

  return {
    *from(topic, offset) {
      const batches = topics.get(topic) ?? [];
      let at = firstAfter(batches, offset);
      for (let next = offset; ; at += 1) {
        const batch = batches[at];
        if (batch === undefined || batch.firstOffset > next) return;
        use(batch);
        yield batch;
        next = batch.end;
      }
    },
    store(found) {
      for (const batch of found) add(batch);
      for (const oldest of used) {
        if (bytes <= maxBytes) return;
        evict(oldest);
      }
    },
  };
}

/** The place of the first batch that ends after the offset. */
function firstAfter(batches: readonly LogBatch[], offset: bigint): number {
  let [low, high] = [0, batches.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batches[middle]?.end ?? 0n) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
