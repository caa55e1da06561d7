export type BatcherOptions<Item, Answer> = {
  /** Answers the items in their order. When it throws, every item of the batch fails alike. */
  readonly send: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** How many batches may be under way at once. */
  readonly lanes: number;
  readonly maxBatch: number;
};

type Waiting<Item, Answer> = {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
};

/**
 * Sends what is asked at the same time together. The coalescer of @scrip/rpc does this for calls and
 * turns callers away under overload; this one serves a cache, whose callers came through one already.
 */
export function createBatcher<Item, Answer>({
  send,
  lanes,
  maxBatch,
}: BatcherOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let busy = 0;
  let scheduled = false;

  const next = (): void => {
    scheduled = false;
    while (busy < lanes && waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      busy += 1;
      void dispatch(send, batch).finally(() => {
        busy -= 1;
        next();
      });
    }
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (scheduled || busy >= lanes) return;
      // The end of this turn of the event loop, so that all requests read in it ask together.
      scheduled = true;
      setImmediate(next);
    });
}

async function dispatch<Item, Answer>(
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  batch: readonly Waiting<Item, Answer>[],
): Promise<void> {
  try {
    const answers = await send(batch.map(({ item }) => item));
    if (answers.length !== batch.length) throw new Error("a batch was not answered item by item");
    for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
