import type { Redis } from "ioredis";

export { type Claims, createClaims } from "./claims.ts";
export { createMessages, type Messages } from "./messages.ts";
export type { Redis as RedisClient } from "ioredis";

/** A cache or a limiter must respond immediately or not at all. */
const COMMAND_TIMEOUT_MS = 50;
const CONNECT_TIMEOUT_MS = 1_000;
const BACKOFF_STEP_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/**
 * A client that fails fast: while the server is down, a call fails in well under a millisecond,
 * since nothing is queued or retried, and no command waits longer than 50 ms. It reconnects by
 * itself. `onError` is called for each failed attempt. Only data that may be lost belongs in Redis.
 * The driver is loaded here: processes without Redis start faster.
 */
export async function createRedis(url: string, onError: (error: Error) => void): Promise<Redis> {
  const ioredis = await import("ioredis");
  const redis = new ioredis.Redis(url, {
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * BACKOFF_STEP_MS, MAX_BACKOFF_MS),
  });
  redis.on("error", onError);
  return redis;
}
