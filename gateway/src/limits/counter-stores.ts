import type { RedisClient } from "@scrip/redis";
import {
  type RateLimiterAbstract,
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterRedis,
} from "rate-limiter-flexible";

export type CounterOptions = {
  /** Unique among the counters of a process. */
  readonly name: string;
  readonly points: number;
  /** Length of the window in seconds. */
  readonly duration: number;
};

/** The store in which the processes of an installation count together. */
export type CounterStore = (options: CounterOptions) => RateLimiterAbstract;

const keyPrefixOf = (name: string): string => `scrip:${name}`;

/** A primary process that takes longer delays requests; this process then counts on its own. */
const PRIMARY_TIMEOUT_MS = 1_000;

/** Counts of all replicas. */
export const redisCounters =
  (redis: RedisClient): CounterStore =>
  ({ name, points, duration }) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: keyPrefixOf(name),
      points,
      duration,
      rejectIfRedisNotReady: true,
    });

/** Counts of the workers of one machine, in their primary process (`holdPrimaryCounters`). */
export const primaryCounters: CounterStore = ({ name, points, duration }) =>
  new RateLimiterCluster({
    keyPrefix: keyPrefixOf(name),
    points,
    duration,
    timeoutMs: PRIMARY_TIMEOUT_MS,
  });

/** Creates, in the primary process, the counters that all its workers share. */
export const holdPrimaryCounters = () => new RateLimiterClusterMaster();
