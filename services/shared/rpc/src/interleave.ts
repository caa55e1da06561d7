import { ApiError } from "@scrip/errors";

/** After so long whatever else the process has to do comes first. */
const TURN_MS = 10;

export type InterleaverOptions = {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Calls back when the event loop has looked after everything else. */
  readonly later: (callback: () => void) => void;
};

export type RunInterleaved = <Result>(
  steps: Generator<void, Result>,
  deadline: number,
) => Result | Promise<Result>;

/**
 * Takes the steps of work that may last long without holding others up: after some milliseconds it
 * pauses until the event loop has gone round. Of several that do so at once each goes on in its turn,
 * one in a round, so that all others wait for one of them at most. Work that ends in its first turn is
 * done at once. Whoever is past the deadline of the call (epoch milliseconds) has nobody to work for.
 */
export function createInterleaver({ now, later }: InterleaverOptions): RunInterleaved {
  const waiting: (() => void)[] = [];
  const giveTurn = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) later(giveTurn);
  };
  const nextTurn = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (waiting.length === 1) later(giveTurn);
    return promise;
  };
  const takeTurn = <Result>(steps: Generator<void, Result>): IteratorResult<void, Result> => {
    const end = now() + TURN_MS;
    for (;;) {
      const step = steps.next();
      if (step.done === true || now() >= end) return step;
    }
  };
  const goOn = async <Result>(steps: Generator<void, Result>, deadline: number) => {
    for (;;) {
      await nextTurn();
      if (Date.now() > deadline) throw new ApiError("deadline_exceeded");
      const { done, value } = takeTurn(steps);
      if (done === true) return value;
    }
  };
  return (steps, deadline) => {
    const { done, value } = takeTurn(steps);
    return done === true ? value : goOn(steps, deadline);
  };
}

/** In this process. */
export const runInterleaved: RunInterleaved = createInterleaver({
  now: () => performance.now(),
  later: (callback) => setImmediate(callback),
});

/** What `map` gives for each item, in turns of some items. */
export const mapInterleaved = <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  deadline: number,
): Result[] | Promise<Result[]> => runInterleaved(mapped(items, map), deadline);

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
