import { ApiError } from "@scrip/errors";

export type CoalescerOptions<Item, Answer> = {
  /** Answers the items in their order. When it throws, every item of the batch fails alike. */
  readonly send: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** How many batches may be under way at once. */
  readonly lanes: number;
  readonly maxBatch: number;
  /** How many items may wait; more are refused at once, so that an overload stays short. */
  readonly maxWaiting: number;
  readonly onBatch?: (size: number) => void;
  /**
   * Whether what `send` threw may be the fault of one item alone. Then the items are sent again one by
   * one, so that a bad one harms no other; only for what may be sent twice.
   */
  readonly isBadItem?: (error: unknown) => boolean;
};

type Waiting<Item, Answer> = {
  readonly item: Item;
  readonly since: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
};

/** An item that waited this long for a free lane is refused: its caller has better things to do. */
const MAX_WAIT_MS = 1_500;

/**
 * Turns single calls into batches: while all lanes are busy, new items gather, and leave together
 * when a lane is free. There are no timers, so an idle system adds no delay and a busy one amortises
 * (design/architecture.md §4). Items leave in the order they came.
 */
export function createCoalescer<Item, Answer>(
  options: CoalescerOptions<Item, Answer>,
): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
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
    new Promise<Answer>((resolve, reject) => {
      if (waiting.length >= options.maxWaiting) {
        reject(overloaded());
        return;
      }
      waiting.push({ item, since: performance.now(), resolve, reject });
      if (scheduled || busy >= options.lanes) return;
      // The end of this turn of the event loop, so that all requests read in it leave together.
      scheduled = true;
      setImmediate(next);
    });
}

async function dispatch<Item, Answer>(
  options: CoalescerOptions<Item, Answer>,
  batch: readonly Waiting<Item, Answer>[],
): Promise<void> {
  const oldest = performance.now() - MAX_WAIT_MS;
  const live = batch.filter((waiting) => waiting.since >= oldest);
  for (const waiting of batch) if (waiting.since < oldest) waiting.reject(overloaded());
  if (live.length === 0) return;
  options.onBatch?.(live.length);
  await deliver(options, live);
}

async function deliver<Item, Answer>(
  options: CoalescerOptions<Item, Answer>,
  live: readonly Waiting<Item, Answer>[],
): Promise<void> {
  try {
    const answers = await options.send(live.map(({ item }) => item));
    if (answers.length !== live.length) throw new Error("a batch was not answered item by item");
    for (const [index, { resolve }] of live.entries()) resolve(answers[index] as Answer);
  } catch (error) {
    if (live.length > 1 && options.isBadItem?.(error) === true) {
      for (const one of live) await deliver(options, [one]);
      return;
    }
    for (const { reject } of live) reject(error);
  }
}

const overloaded = (): ApiError =>
  new ApiError("too_many_requests", {
    details: "Too many concurrent requests; try again in a second",
  });
