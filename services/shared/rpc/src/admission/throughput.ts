const WINDOW_MS = 500;

export type Throughput = {
  /** Starts to measure: requests have begun to wait. */
  readonly start: () => void;
  /** Ends the measurement: no request waits. */
  readonly stop: () => void;
  /** Counts work that ended while other requests waited. */
  readonly add: (work: number) => void;
  /** Work per millisecond of the recent windows; infinite until the first one has ended. */
  readonly rate: () => number;
};

/** Measures how much work a lane completes while requests wait for their turn. */
export function createThroughput(now: () => number): Throughput {
  let measured = Number.POSITIVE_INFINITY;
  let work = 0;
  let startedAt = Number.POSITIVE_INFINITY;
  const start = (): void => {
    work = 0;
    startedAt = now();
  };
  const rate = (): number => {
    const elapsed = now() - startedAt;
    if (elapsed < WINDOW_MS) return measured;
    const latest = work / elapsed;
    measured = Number.isFinite(measured) ? (measured + latest) / 2 : latest;
    start();
    return measured;
  };
  return {
    start,
    stop() {
      startedAt = Number.POSITIVE_INFINITY;
    },
    add(completed) {
      work += completed;
      rate();
    },
    rate,
  };
}
