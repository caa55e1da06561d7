import type { createRedis } from "@scrip/redis";
import type { CodeGuessingSettings } from "@scrip/rpc";
import type { RateLimiterAbstract, RateLimiterRes } from "rate-limiter-flexible";
import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes as LimitExceeded,
} from "rate-limiter-flexible";

export type RateLimitSettings = CodeGuessingSettings & {
  /** Calls per project; 0 disables a limit (docs/rate-limits.md#limits). */
  readonly callsPerMinute: number;
  /** Calls of bulk endpoints per project. */
  readonly bulkPerHour: number;
  /** Client-side calls per address, in addition to the limit of the project. */
  readonly clientPer5Seconds: number;
  /** Failed logins per address, and per key id. */
  readonly failuresPerMinute: number;
};

/** A limit after a call was counted. */
export type Allowance = {
  readonly window: Window;
  readonly remaining: number;
  readonly resetMs: number;
  readonly exhausted: boolean;
};

export type Window = {
  readonly type: "api_calls" | "bulk_api_calls";
  /** The policy name in RateLimit-Policy. */
  readonly policy: string;
  readonly limit: number;
  readonly seconds: number;
};

export type RateLimits = {
  /** Counts a call; undefined when the limit is disabled. */
  countCall(project: string): Promise<Allowance> | undefined;
  countBulkCall(project: string): Promise<Allowance> | undefined;
  countClientCall(address: string): Promise<Allowance> | undefined;
  countFailedLogin(name: string): Promise<Allowance> | undefined;
  /** Whether the next failed login of this name would be beyond the limit. Counts nothing. */
  hasExhaustedLogins(name: string): Promise<boolean>;
  readonly callWindow: Window;
};

export type RateLimitsOptions = {
  readonly settings: RateLimitSettings;
  /** Counters shared by all replicas; without it each process counts for itself. */
  readonly redis?: ReturnType<typeof createRedis> | undefined;
  /** Called when Redis does not respond and this process counts on its own. */
  readonly onFallback: (error: unknown) => void;
};

/** How long Redis is not tried again after a failure, because each attempt delays a call. */
const FALLBACK_MS = 1_000;

export function createRateLimits(options: RateLimitsOptions): RateLimits {
  const { settings } = options;
  const callWindow: Window = {
    type: "api_calls",
    policy: "default",
    limit: settings.callsPerMinute,
    seconds: 60,
  };
  const counter = (window: Window, prefix: string): Counter =>
    window.limit === 0 ? OFF : createCounter(window, prefix, options);
  const calls = counter(callWindow, "call");
  const bulk = counter(
    { type: "bulk_api_calls", policy: "bulk", limit: settings.bulkPerHour, seconds: 3_600 },
    "bulk",
  );
  const client = counter(
    { type: "api_calls", policy: "client", limit: settings.clientPer5Seconds, seconds: 5 },
    "client",
  );
  // Counted per process: it protects this process and must work without Redis.
  const failures =
    settings.failuresPerMinute === 0
      ? OFF
      : createCounter(
          { type: "api_calls", policy: "failures", limit: settings.failuresPerMinute, seconds: 60 },
          "failure",
          { ...options, redis: undefined },
        );
  return {
    countCall: (project) => calls.take?.(project),
    countBulkCall: (project) => bulk.take?.(project),
    countClientCall: (address) => client.take?.(address),
    countFailedLogin: (name) => failures.take?.(name),
    hasExhaustedLogins: async (name) => (await failures.isExhausted?.(name)) ?? false,
    callWindow,
  };
}

type Counter = {
  readonly take?: (key: string) => Promise<Allowance>;
  /** Only where this process counts. */
  readonly isExhausted?: (key: string) => Promise<boolean>;
};

const OFF: Counter = {};

function createCounter(window: Window, prefix: string, options: RateLimitsOptions): Counter {
  const { redis, onFallback } = options;
  const common = { points: window.limit, duration: window.seconds, keyPrefix: `scrip:${prefix}` };
  const local = new RateLimiterMemory(common);
  if (redis === undefined) {
    return {
      take: (key) => take(local, window, key),
      isExhausted: async (key) => ((await local.get(key))?.consumedPoints ?? 0) >= window.limit,
    };
  }
  const shared = new RateLimiterRedis({
    ...common,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    // Rejects without asking Redis once the window is exhausted.
    inMemoryBlockOnConsumed: window.limit,
  });
  let unavailableUntil = 0;
  return {
    take: async (key) => {
      if (performance.now() < unavailableUntil) return take(local, window, key);
      try {
        return await take(shared, window, key);
      } catch (error) {
        unavailableUntil = performance.now() + FALLBACK_MS;
        onFallback(error);
        return take(local, window, key);
      }
    },
  };
}

async function take(limiter: RateLimiterAbstract, window: Window, key: string): Promise<Allowance> {
  try {
    return allowance(window, await limiter.consume(key));
  } catch (error) {
    // The library throws its result when the limit is exceeded; other errors are failures.
    if (!(error instanceof LimitExceeded)) throw error;
    return { ...allowance(window, error), remaining: 0, exhausted: true };
  }
}

function allowance(window: Window, counted: RateLimiterRes): Allowance {
  return {
    window,
    remaining: counted.remainingPoints,
    resetMs: counted.msBeforeNext,
    exhausted: counted.consumedPoints > window.limit,
  };
}
