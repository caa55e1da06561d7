import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";

/** Milliseconds of an iteration of the event loop for paused work, and as much for new work. */
const TURN_MS = 4;
/** New work of a project without paused work runs this long at least. */
const FIRST_MS = 1;
/** Paused work waits for connections and rejections this long at most. */
const MAX_YIELD_MS = 50;

export type InterleaverOptions = {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Calls back after the current iteration of the event loop. */
  readonly later: (callback: () => void) => void;
};

/** For whom the work is, and when to stop it: a `Call` is one. */
export type WorkLimit = {
  readonly project: { readonly id: string };
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Whether nobody waits for the result any longer. */
  readonly isAbandoned?: (() => boolean) | undefined;
};

/** For work that has taken effect, or whose result is stored. */
export const UNLIMITED: WorkLimit = { project: { id: "" }, deadline: Number.POSITIVE_INFINITY };

export type RunInterleaved = <Result>(
  steps: Generator<void, Result>,
  limit: WorkLimit,
) => Result | Promise<Result>;

export type Interleaver = {
  readonly run: RunInterleaved;
  /** The same for work that need not begin at once: its first slice waits for its turn as well. */
  readonly runLater: <Result>(steps: Generator<void, Result>, limit: WorkLimit) => Promise<Result>;
  /**
   * Continues no paused work in this iteration. Call it when a connection is accepted, since Node accepts one per
   * iteration and long iterations would let the requests of further ones wait for seconds; and when a request is
   * rejected, since others of the same burst follow.
   */
  readonly yieldToArrivals: () => void;
};

/**
 * Executes the steps of long work without blocking the process: after some milliseconds it pauses
 * until the next iteration of the event loop. Projects take turns, and the pieces of work of one
 * project too, so that a project's long work delays others by a few milliseconds per iteration. Work that ends in
 * its first time slice returns synchronously. Work past its deadline, or whose caller has left, stops
 * with `deadline_exceeded`.
 */
export function createInterleaver({ now, later }: InterleaverOptions): Interleaver {
  const paused = createPausedWork();
  let isYielding = false;
  /** When an iteration last continued paused work, or had none. */
  let continuedAt = now();
  /** Time of this iteration that new work has used. */
  let used = 0;
  let isScheduled = false;
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    later(startIteration);
  };
  const startIteration = (): void => {
    isScheduled = false;
    const start = now();
    const yields = isYielding && start - continuedAt < MAX_YIELD_MS;
    isYielding = false;
    if (yields) {
      schedule();
      return;
    }
    used = 0;
    const end = start + TURN_MS;
    for (let rest = TURN_MS; rest > 0 && !paused.isEmpty(); rest = end - now()) {
      paused.continueNext(rest);
    }
    continuedAt = now();
    if (!paused.isEmpty()) schedule();
  };
  const runFirst = <Result>(steps: Generator<void, Result>, project: string) => {
    if (used >= TURN_MS && paused.has(project)) return undefined;
    const start = now();
    try {
      return runUntil(steps, now, start + Math.max(TURN_MS - used, FIRST_MS));
    } finally {
      used += now() - start;
    }
  };
  const runLater = <Result>(steps: Generator<void, Result>, limit: WorkLimit): Promise<Result> => {
    schedule();
    return new Promise((resolve, reject) => {
      const runSlice = (ms: number): boolean => {
        stopUnwanted(limit);
        return runSteps(steps, { now, end: now() + ms }, resolve);
      };
      paused.add(limit.project.id, { runSlice, fail: reject });
    });
  };
  return {
    run(steps, limit) {
      schedule();
      const first = runFirst(steps, limit.project.id);
      return first?.done === true ? first.value : runLater(steps, limit);
    },
    runLater,
    yieldToArrivals() {
      isYielding = true;
    },
  };
}

type PausedWork = {
  /** Runs for some milliseconds; returns whether the work has ended. */
  readonly runSlice: (ms: number) => boolean;
  readonly fail: (error: unknown) => void;
};

/** Round-robin over projects, and over the pieces of work of a project. */
function createPausedWork() {
  const projects = new Map<string, PausedWork[]>();
  return {
    isEmpty: () => projects.size === 0,
    has: (project: string) => projects.has(project),
    add(project: string, work: PausedWork): void {
      const own = projects.get(project);
      if (own === undefined) projects.set(project, [work]);
      else own.push(work);
    },
    continueNext(ms: number): void {
      const [[project, own]] = projects as Iterable<[string, PausedWork[]]> as [
        [string, PausedWork[]],
      ];
      projects.delete(project);
      const work = own.shift() as PausedWork;
      try {
        if (!work.runSlice(ms)) own.push(work);
      } catch (error) {
        work.fail(error);
      }
      if (own.length > 0) projects.set(project, own);
    },
  };
}

function stopUnwanted({ deadline, isAbandoned }: WorkLimit): void {
  if (currentTime() > deadline || isAbandoned?.() === true) throw new ApiError("deadline_exceeded");
}

function runUntil<Result>(
  steps: Generator<void, Result>,
  now: () => number,
  end: number,
): IteratorResult<void, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true || now() >= end) return step;
  }
}

/** Returns whether the steps have ended, with their result. */
function runSteps<Result>(
  steps: Generator<void, Result>,
  { now, end }: { readonly now: () => number; readonly end: number },
  onEnd: (result: Result) => void,
): boolean {
  const step = runUntil(steps, now, end);
  if (step.done === true) onEnd(step.value);
  return step.done === true;
}

/** The interleaver of this process. */
export const {
  run: runInterleaved,
  runLater: runInterleavedLater,
  yieldToArrivals,
} = createInterleaver({
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
