import { currentTime } from "@scrip/clock";

/** Lets the requests of this process use one order after the other, in the order of their arrival. */
export type OrderQueue = {
  /** Longest wait for other requests with the order, in this process and in others. */
  readonly maxWaitMs: number;
  /**
   * Resolves when it is the turn of this request. Waiting holds no connection. The request must call
   * the returned function when it ends.
   */
  readonly enter: (key: string, entry: QueueEntry) => Promise<QueueOutcome>;
};

export type QueueEntry = {
  /** Identifies the repetitions of a request. */
  readonly idempotencyKey: string | undefined;
  /** Epoch milliseconds at which waiting ends. */
  readonly until: number;
};

export type QueueOutcome =
  | { readonly kind: "entered"; readonly leave: () => void }
  /** The time is over, or too many requests wait. */
  | { readonly kind: "busy" }
  /** A request with the same idempotency key runs or waits. */
  | { readonly kind: "repeated" };

type QueuedRequest = Pick<QueueEntry, "idempotencyKey"> & { readonly proceed: () => void };

export type OrderQueueOptions = { readonly maxWaiting: number; readonly maxWaitMs: number };

export function createOrderQueue({ maxWaiting, maxWaitMs }: OrderQueueOptions): OrderQueue {
  /** For each order the running request and, behind it, those that wait. */
  const queues = new Map<string, QueuedRequest[]>();

  const remove = (key: string, queue: QueuedRequest[], queued: QueuedRequest): void => {
    const position = queue.indexOf(queued);
    if (position === -1) return;
    queue.splice(position, 1);
    if (queue.length === 0) queues.delete(key);
    else if (position === 0) queue[0]?.proceed();
  };

  return {
    maxWaitMs,
    enter(key, { idempotencyKey, until }) {
      const queue = queues.get(key) ?? [];
      const isRepeated =
        idempotencyKey !== undefined &&
        queue.some((queued) => queued.idempotencyKey === idempotencyKey);
      if (isRepeated) return Promise.resolve({ kind: "repeated" });
      if (queue.length > maxWaiting) return Promise.resolve({ kind: "busy" });
      return new Promise((resolve) => {
        let timer: NodeJS.Timeout | undefined;
        const queued: QueuedRequest = {
          idempotencyKey,
          proceed() {
            clearTimeout(timer);
            resolve({ kind: "entered", leave: () => remove(key, queue, queued) });
          },
        };
        queue.push(queued);
        if (queue.length === 1) {
          queues.set(key, queue);
          queued.proceed();
          return;
        }
        timer = setTimeout(
          () => {
            remove(key, queue, queued);
            resolve({ kind: "busy" });
          },
          Math.max(0, until - currentTime()),
        );
      });
    },
  };
}
