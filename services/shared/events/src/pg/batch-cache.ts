import type { LogBatch } from "./log.ts";

export type BatchCache = {
  /** Consecutive batches of the topic from the one with this offset on; none if that one is not cached. */
  readonly from: (topic: string, offset: bigint) => readonly LogBatch[];
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

  const evict = (batch: LogBatch): void => {
    used.delete(batch);
    bytes -= batch.size;
    const batches = topics.get(batch.topic) ?? [];
    batches.splice(batches.indexOf(batch), 1);
    if (batches.length === 0) topics.delete(batch.topic);
  };

  return {
    from(topic, offset) {
      const batches = topics.get(topic) ?? [];
      const first = batches.findIndex(({ end }) => end > offset);
      const run: LogBatch[] = [];
      for (let next = offset, at = first; at >= 0 && at < batches.length; at += 1) {
        const batch = batches[at];
        if (batch === undefined || batch.firstOffset > next) break;
        run.push(batch);
        next = batch.end;
      }
      run.forEach(use);
      return run;
    },
    store(found) {
      for (const batch of found) {
        const batches = topics.get(batch.topic) ?? [];
        const at = batches.findLastIndex(({ end }) => end <= batch.firstOffset) + 1;
        if (batches[at]?.firstOffset === batch.firstOffset) continue;
        topics.set(batch.topic, batches.toSpliced(at, 0, batch));
        use(batch);
        bytes += batch.size;
      }
      for (const oldest of used) {
        if (bytes <= maxBytes) return;
        evict(oldest);
      }
    },
  };
}
