import type { createRedis } from "@scrip/redis";
import type { SharedMisses } from "@scrip/rpc";
import { RateLimiterRedis, RateLimiterRes as LimitExceeded } from "rate-limiter-flexible";

const WINDOW_SECONDS = 300;

/** Misses of all replicas, counted in Redis; undefined while it does not respond. */
export function createSharedMisses(
  redis: ReturnType<typeof createRedis>,
  onFallback: (error: unknown) => void,
): SharedMisses {
  const limiters = new Map<number, RateLimiterRedis>();
  const limiterOf = (limit: number): RateLimiterRedis => {
    const known = limiters.get(limit);
    if (known !== undefined) return known;
    const limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: "scrip:miss",
      // The library rejects what exceeds the points, and the last miss reaches the limit.
      points: limit - 1,
      duration: WINDOW_SECONDS,
      rejectIfRedisNotReady: true,
    });
    limiters.set(limit, limiter);
    return limiter;
  };
  return async (name, misses, limit) => {
    try {
      await limiterOf(limit).consume(name, misses);
      return false;
    } catch (error) {
      if (error instanceof LimitExceeded) return true;
      onFallback(error);
      return undefined;
    }
  };
}
