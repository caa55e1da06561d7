import type { createRedis } from "@scrip/redis";
import type { RateLimiterAbstract, RateLimiterRes } from "rate-limiter-flexible";
import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes as Verdict,
} from "rate-limiter-flexible";

export type RateLimitSettings = {
  /** Per project; 0 switches a limit off (spec/rulings.md 16). */
  readonly callsPerMinute: number;
  /** Per project, for bulk endpoints. */
  readonly bulkPerHour: number;
  /** Per address, on the client side, in addition. */
  readonly clientPer5Seconds: number;
  /** Failed credentials per address. */
  readonly failuresPerMinute: number;
};

/** What is left of a limit after a call was counted. */
export type Allowance = {
  readonly window: Window;
  readonly remaining: number;
  readonly resetMs: number;
  readonly exhausted: boolean;
};

export type Window = {
  readonly type: "api_calls" | "bulk_api_calls";
  /** As the policy is called in RateLimit-Policy. */
  readonly policy: string;
  readonly limit: number;
  readonly seconds: number;
};

export type RateLimits = {
  /** Counts a call of a project; undefined when the limit is off. */
  countCall(project: string): Promise<Allowance> | undefined;
  countBulkCall(project: string): Promise<Allowance> | undefined;
  countClientCall(address: string): Promise<Allowance> | undefined;
  countFailedLogin(address: string): Promise<Allowance> | undefined;
  failedLogins(address: string): Promise<Allowance | undefined>;
  readonly callWindow: Window;
};

export type RateLimitsOptions = {
  readonly settings: RateLimitSettings;
  /** Shared counters; without it each process counts for itself. */
  readonly redis?: ReturnType<typeof createRedis> | undefined;
  /** Told when the shared counters do not answer and the process counts for itself. */
  readonly onFallback: (error: unknown) => void;
};

/** After a failure the shared counters are left alone for so long: waiting for them costs calls. */
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
  // Counted by each process alone: it protects this process, and must hold without Redis.
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
    countFailedLogin: (address) => failures.take?.(address),
    failedLogins: async (address) => failures.look?.(address),
    callWindow,
  };
}

type Counter = {
  readonly take?: (key: string) => Promise<Allowance>;
  readonly look?: (key: string) => Promise<Allowance | undefined>;
};

const OFF: Counter = {};

function createCounter(window: Window, prefix: string, options: RateLimitsOptions): Counter {
  const { redis, onFallback } = options;
  const common = { points: window.limit, duration: window.seconds, keyPrefix: `scrip:${prefix}` };
  const local = new RateLimiterMemory(common);
  if (redis === undefined) {
    return {
      take: (key) => take(local, window, key),
      look: async (key) => {
        const found = await local.get(key);
        return found === null ? undefined : allowance(window, found);
      },
    };
  }
  const shared = new RateLimiterRedis({
    ...common,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    // Once a window is used up, further calls are refused without asking again.
    inMemoryBlockOnConsumed: window.limit,
  });
  let awayUntil = 0;
  return {
    take: async (key) => {
      if (performance.now() < awayUntil) return take(local, window, key);
      try {
        return await take(shared, window, key);
      } catch (error) {
        awayUntil = performance.now() + FALLBACK_MS;
        onFallback(error);
        return take(local, window, key);
      }
    },
  };
}

async function take(limiter: RateLimiterAbstract, window: Window, key: string): Promise<Allowance> {
  try {
    return allowance(window, await limiter.consume(key));
  } catch (verdict) {
    // The library refuses by throwing what it counted; anything else is a failure.
    if (!(verdict instanceof Verdict)) throw verdict;
    return { ...allowance(window, verdict), remaining: 0, exhausted: true };
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
