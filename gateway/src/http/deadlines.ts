import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Stops waiting for work that takes too long. The work itself continues and may still take effect.
 */
export type Deadlines = Disposable & {
  within<T>(work: Promise<T>): Promise<T>;
};

const SWEEP_MS = 250;

type Waiting = { readonly until: number; readonly end: () => void };

/**
 * All timeouts are equally long, so entries are ordered by their end and one timer checks the first
 * ones; a timer per request would cost more at thousands of requests per second. It runs only while requests wait.
 */
export function createDeadlines(timeoutMs: number): Deadlines {
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;
  const sweep = (): void => {
    const now = performance.now();
    for (const each of waiting) {
      if (each.until > now) return;
      waiting.delete(each);
      each.end();
    }
    clearInterval(timer);
    timer = undefined;
  };
  return {
    async within(work) {
      const until = performance.now() + timeoutMs;
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const entry: Waiting = {
        until,
        end: () => reject(new ConnectError("deadline exceeded", Code.DeadlineExceeded)),
      };
      waiting.add(entry);
      timer ??= setInterval(sweep, SWEEP_MS).unref();
      try {
        return await Promise.race([work, ended]);
      } finally {
        waiting.delete(entry);
      }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
