import { ApiError } from "@scrip/errors";

/** After this time the rest of the process takes precedence. */
const SLICE_MS = 10;

export type InterleaverOptions = {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Calls back after the current iteration of the event loop. */
  readonly later: (callback: () => void) => void;
};

/** When to stop the work: a `Call` is one. */
export type WorkLimit = {
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Whether nobody waits for the result any longer. */
  readonly isAbandoned?: (() => boolean) | undefined;
};

/** For work that has taken effect, or whose result is stored. */
export const UNLIMITED: WorkLimit = { deadline: Number.POSITIVE_INFINITY };

export type RunInterleaved = <Result>(
  steps: Generator<void, Result>,
  limit: WorkLimit,
) => Result | Promise<Result>;

/**
 * Executes the steps of long work without blocking the process: after some milliseconds it pauses
 * for an iteration of the event loop. Each iteration continues one of several pieces of paused
 * work, so that other requests wait for one of them at most. Work that ends in its first time slice
 * returns synchronously. Work past its deadline, or whose caller has left, stops with
 * `deadline_exceeded`.
 */
export function createInterleaver({ now, later }: InterleaverOptions): RunInterleaved {
  const waiting: (() => void)[] = [];
  const continueNext = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) later(continueNext);
  };
  const nextSlice = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (waiting.length === 1) later(continueNext);
    return promise;
  };
  const runSlice = <Result>(steps: Generator<void, Result>): IteratorResult<void, Result> => {
    const end = now() + SLICE_MS;
    for (;;) {
      const step = steps.next();
      if (step.done === true || now() >= end) return step;
    }
  };
  const runRemaining = async <Result>(steps: Generator<void, Result>, limit: WorkLimit) => {
    for (;;) {
      await nextSlice();
      if (Date.now() > limit.deadline || limit.isAbandoned?.() === true) {
        throw new ApiError("deadline_exceeded");
      }
      const { done, value } = runSlice(steps);
      if (done === true) return value;
    }
  };
  return (steps, limit) => {
    const { done, value } = runSlice(steps);
    return done === true ? value : runRemaining(steps, limit);
  };
}

/** The interleaver of this process. */
export const runInterleaved: RunInterleaved = createInterleaver({
  now: () => performance.now(),
  later: (callback) => setImmediate(callback),
});

/** Maps a list, interleaved with other work. */
export const mapInterleaved = <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  limit: WorkLimit,
): Result[] | Promise<Result[]> => runInterleaved(mapped(items, map), limit);

function* mapped<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Generator<void, Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    if (results.length > 0) yield;
    results.push(map(item));
  }
  return results;
}
