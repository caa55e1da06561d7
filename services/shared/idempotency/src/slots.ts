import { ApiError } from "@scrip/errors";

/** Beyond this, requests are rejected instead of queued. */
const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 2_000;

export type Slots = { readonly run: <T>(work: () => Promise<T>) => Promise<T> };

/** Runs at most `count` works at a time; the others wait in order of arrival, for two seconds. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  const acquire = (): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    if (waiting.size >= MAX_WAITING) return Promise.reject(overloaded());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(proceed);
      reject(overloaded());
    }, MAX_WAIT_MS);
    const proceed = (): void => {
      clearTimeout(timer);
      resolve();
    };
    waiting.add(proceed);
    return promise;
  };
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  return {
    async run(work) {
      await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

const overloaded = (): ApiError =>
  new ApiError("service_unavailable", { details: "Too many requests with keys are waiting" });
