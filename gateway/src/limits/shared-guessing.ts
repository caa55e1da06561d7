import type { Messages } from "@scrip/redis";
import type { SharedBlock, SharedGuessing } from "@scrip/rpc";
import { type RateLimiterAbstract, RateLimiterRes as LimitExceeded } from "rate-limiter-flexible";

import type { CounterStore } from "./counter-stores.ts";

const WINDOW_SECONDS = 300;
const MAX_BLOCK_MS = 3_600_000;

const CHANNEL = "scrip:blocks";

/** Misses of all processes, counted in their store, and blocks, announced to those that `messages` reach. */
export function createSharedGuessing(
  store: CounterStore,
  messages: Messages | undefined,
  onFallback: (error: unknown) => void,
): SharedGuessing {
  const limiters = new Map<number, RateLimiterAbstract>();
  const limiterOf = (limit: number): RateLimiterAbstract => {
    const known = limiters.get(limit);
    if (known !== undefined) return known;
    const limiter = store({
      name: `miss:${limit}`,
      // The library rejects what exceeds the points, and the last miss reaches the limit.
      points: limit - 1,
      duration: WINDOW_SECONDS,
    });
    limiters.set(limit, limiter);
    return limiter;
  };
  return {
    async addMisses(name, misses, limit) {
      try {
        await limiterOf(limit).consume(name, misses);
        return false;
      } catch (error) {
        if (error instanceof LimitExceeded) return true;
        onFallback(error);
        return undefined;
      }
    },
    ...(messages && { blocks: blocksIn(messages) }),
  };
}

const blocksIn = (messages: Messages): NonNullable<SharedGuessing["blocks"]> => ({
  announce: (block) => messages.publish(CHANNEL, block),
  follow: (apply) =>
    messages.subscribe(CHANNEL, (message) => {
      if (isBlock(message)) apply(message);
    }),
});

function isBlock(message: unknown): message is SharedBlock {
  if (typeof message !== "object" || message === null) return false;
  const { name, ms } = message as Partial<SharedBlock>;
  return typeof name === "string" && typeof ms === "number" && ms > 0 && ms <= MAX_BLOCK_MS;
}
