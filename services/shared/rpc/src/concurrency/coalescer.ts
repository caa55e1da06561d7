import { type BatcherOptions, createBatcher } from "@scrip/batching";
import { ApiError } from "@scrip/errors";

export type CoalescerOptions<Item, Result> = Omit<BatcherOptions<Item, Result>, "overload"> & {
  /** Maximum number of waiting items; further ones are rejected with `too_many_requests`. */
  readonly maxWaiting: number;
};

/**
 * After this wait for a free lane, the caller may leave before a slow statement ends. A process that has just started
 * keeps its first calls for up to two seconds, when the machine is busy.
 */
const MAX_WAIT_MS = 3_000;

/** A batcher for calls to other services, which rejects items under overload. */
export const createCoalescer = <Item, Result>({
  maxWaiting,
  ...options
}: CoalescerOptions<Item, Result>): ((item: Item) => Promise<Result>) =>
  createBatcher({
    ...options,
    overload: { maxWaiting, maxWaitMs: MAX_WAIT_MS, error: overloaded },
  });

const overloaded = (): ApiError =>
  new ApiError("too_many_requests", {
    details: "Too many concurrent requests; try again in a second",
  });
