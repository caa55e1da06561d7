import { ApiError } from "@scrip/errors";

/** Beyond this, requests are rejected instead of queued. */
const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 2_000;

export type Slots = {
  readonly run: <T>(projectId: string, work: () => Promise<T>) => Promise<T>;
};

/** Runs at most `count` works at a time; the others wait for two seconds: projects take turns. */
export function createSlots(count: number): Slots {
  let free = count;
  let size = 0;
  /** The waiting of each project in order of arrival; the first project has its turn. */
  const waiting = new Map<string, Set<() => void>>();
  const remove = (projectId: string, proceed: () => void): void => {
    const queue = waiting.get(projectId);
    if (queue?.delete(proceed) !== true) return;
    size -= 1;
    if (queue.size === 0) waiting.delete(projectId);
  };
  const acquire = (projectId: string): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    const queue = waiting.get(projectId) ?? new Set<() => void>();
    // One project leaves room for the others.
    if (size >= MAX_WAITING || queue.size >= MAX_WAITING / 2) return Promise.reject(overloaded());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      remove(projectId, proceed);
      reject(overloaded());
    }, MAX_WAIT_MS);
    const proceed = (): void => {
      clearTimeout(timer);
      resolve();
    };
    waiting.set(projectId, queue.add(proceed));
    size += 1;
    return promise;
  };
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    const [projectId, queue] = next;
    const [proceed] = queue as Iterable<() => void> as readonly [() => void];
    remove(projectId, proceed);
    // To the end of the turns.
    if (waiting.delete(projectId)) waiting.set(projectId, queue);
    proceed();
  };
  return {
    async run(projectId, work) {
      await acquire(projectId);
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
