import { Code, ConnectError } from "@connectrpc/connect";

/** Ends the wait for work that takes too long; the work itself goes on and may still be kept. */
export type Deadlines = Disposable & {
  within<T>(work: Promise<T>): Promise<T>;
};

const SWEEP_MS = 250;

type Waiting = { readonly until: number; readonly end: () => void };

/**
 * Everybody waits equally long, so those who wait are in the order of their ends and one timer looks
 * at the first ones: a timer for each of thousands of requests a second would cost more.
 */
export function createDeadlines(timeoutMs: number): Deadlines {
  const waiting = new Set<Waiting>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const each of waiting) {
      if (each.until > now) return;
      waiting.delete(each);
      each.end();
    }
  }, SWEEP_MS);
  timer.unref();
  return {
    async within(work) {
      const until = performance.now() + timeoutMs;
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const entry: Waiting = {
        until,
        end: () => reject(new ConnectError("no answer in time", Code.DeadlineExceeded)),
      };
      waiting.add(entry);
      try {
        return await Promise.race([work, ended]);
      } finally {
        waiting.delete(entry);
      }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
