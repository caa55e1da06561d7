import { inTraceOf, traceContext, type TraceContext } from "@scrip/telemetry";

export type BatcherOptions<Item, Result> = {
  /** Returns one result per item, in the order of the items. When it throws, every item of the batch fails alike. */
  readonly send: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Maximum number of batches in flight. */
  readonly lanes: number;
  readonly maxBatch: number;
  /** Default: items wait for a lane without limits, for callers that were admitted before. */
  readonly overload?: OverloadLimits;
  readonly onBatch?: (size: number) => void;
  /**
   * Whether a single item may have caused the error of `send`. If so, the items are sent again one by one, so that only
   * the bad item fails. Set it only for idempotent work.
   */
  readonly isBadItem?: (error: unknown) => boolean;
};

export type OverloadLimits = {
  /** Maximum number of waiting items; further ones are rejected immediately, so that an overload stays short. */
  readonly maxWaiting: number;
  /** An item that waited longer for a free lane is rejected. */
  readonly maxWaitMs: number;
  readonly error: () => Error;
};

type Waiting<Item, Result> = {
  readonly item: Item;
  /** Time at which the item arrived; 0 without overload limits. */
  readonly since: number;
  readonly trace: TraceContext | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
};

/**
 * Turns single calls into batches: while all lanes are busy, new items accumulate, and leave together
 * when a lane is free. There are no timers, so an idle system adds no delay and a busy one amortises.
 * Items leave in the order of their arrival.
 */
export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { overload } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let busy = 0;
  let scheduled = false;

  const next = (): void => {
    scheduled = false;
    while (busy < options.lanes && waiting.length > 0) {
      const batch = waiting.slice(0, options.maxBatch);
      waiting = waiting.slice(options.maxBatch);
      busy += 1;
      void dispatch(options, batch).finally(() => {
        busy -= 1;
        next();
      });
    }
  };

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (overload !== undefined && waiting.length >= overload.maxWaiting) {
        reject(overload.error());
        return;
      }
      const since = overload === undefined ? 0 : performance.now();
      waiting.push({ item, since, trace: traceContext(), resolve, reject });
      if (scheduled || busy >= options.lanes) return;
      // Deferred to the end of this iteration of the event loop, so that all items of the iteration are in one batch.
      scheduled = true;
      setImmediate(next);
    });
}

async function dispatch<Item, Result>(
  options: BatcherOptions<Item, Result>,
  batch: readonly Waiting<Item, Result>[],
): Promise<void> {
  const live = options.overload === undefined ? batch : dropExpired(options.overload, batch);
  if (live.length === 0) return;
  options.onBatch?.(live.length);
  await deliver(options, live);
}

function dropExpired<Item, Result>(
  { maxWaitMs, error }: OverloadLimits,
  batch: readonly Waiting<Item, Result>[],
): readonly Waiting<Item, Result>[] {
  const oldest = performance.now() - maxWaitMs;
  for (const waiting of batch) if (waiting.since < oldest) waiting.reject(error());
  return batch.filter((waiting) => waiting.since >= oldest);
}

function sendTraced<Item, Result>(
  { send }: BatcherOptions<Item, Result>,
  live: readonly Waiting<Item, Result>[],
): Promise<readonly Result[]> {
  const items = live.map(({ item }) => item);
  if (live[0]?.trace === undefined) return send(items);
  return inTraceOf(
    live.map(({ trace }) => trace),
    () => send(items),
  );
}

async function deliver<Item, Result>(
  options: BatcherOptions<Item, Result>,
  live: readonly Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await sendTraced(options, live);
    if (results.length !== live.length) {
      throw new Error(`a batch of ${live.length} items returned ${results.length} results`);
    }
    for (const [index, { resolve }] of live.entries()) resolve(results[index] as Result);
  } catch (error) {
    if (live.length > 1 && options.isBadItem?.(error) === true) {
      for (const one of live) await deliver(options, [one]);
      return;
    }
    for (const { reject } of live) reject(error);
  }
}
