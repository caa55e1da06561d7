/** Bounds how much runs at the same time. What waits starts in the order of arrival. */
export type Slots = {
  /** Rejects after `maxWaitMs` without a slot. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  readonly waiting: () => number;
};

export type SlotsOptions = {
  readonly slots: number;
  readonly maxWaitMs: number;
  /** The error of work that waited too long. */
  readonly timeout: () => Error;
};

export function createSlots({ slots, maxWaitMs, timeout }: SlotsOptions): Slots {
  const waiting = new Set<() => void>();
  let free = slots;

  const waitForSlot = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(timeout());
      }, maxWaitMs);
      waiting.add(start);
    });

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    // The slot is passed on directly, so that no later work can take it.
    waiting.delete(next);
    next();
  };

  return {
    waiting: () => waiting.size,
    async run(work) {
      if (free > 0) free -= 1;
      else await waitForSlot();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
