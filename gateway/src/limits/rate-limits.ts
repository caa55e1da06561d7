import { createBatcher } from "@scrip/batching";
import type { CodeGuessingSettings } from "@scrip/rpc";
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRes as LimitExceeded,
} from "rate-limiter-flexible";

import type { CounterStore } from "./counter-stores.ts";

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
  /** Counts for several processes; without it each process counts for itself. */
  readonly store?: CounterStore | undefined;
  /** Called when the store does not respond and this process counts on its own. */
  readonly onFallback: (error: unknown) => void;
};

/** How long the store is not tried again after a failure, because each attempt delays a call. */
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
  // Counted per process: it protects this process and must work without a store.
  const failures =
    settings.failuresPerMinute === 0
      ? OFF
      : createCounter(
          { type: "api_calls", policy: "failures", limit: settings.failuresPerMinute, seconds: 60 },
          "failure",
          { ...options, store: undefined },
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

/** Batches to the store that are under way; while they are, calls of one key are counted together. */
const LANES = 4;
const MAX_BATCH = 1_000;

function createCounter(window: Window, name: string, options: RateLimitsOptions): Counter {
  const { store, onFallback } = options;
  const common = { points: window.limit, duration: window.seconds };
  const local = new RateLimiterMemory({ ...common, keyPrefix: name });
  const takeLocally = async (key: string): Promise<Allowance> =>
    allowance(window, await consume(local, key, 1));
  if (store === undefined) {
    return {
      take: takeLocally,
      isExhausted: async (key) => ((await local.get(key))?.consumedPoints ?? 0) >= window.limit,
    };
  }
  const shared = store({ ...common, name });
  const takeTogether = createBatcher<string, Allowance>({
    lanes: LANES,
    maxBatch: MAX_BATCH,
    send: (keys) => takeMany(shared, window, keys),
  });
  let unavailableUntil = 0;
  return {
    take: async (key) => {
      if (performance.now() < unavailableUntil) return takeLocally(key);
      try {
        return await takeTogether(key);
      } catch (error) {
        unavailableUntil = performance.now() + FALLBACK_MS;
        onFallback(error);
        return takeLocally(key);
      }
    },
  };
}

/** Counts the calls of each key with one request to the store. */
async function takeMany(
  limiter: RateLimiterAbstract,
  window: Window,
  keys: readonly string[],
): Promise<Allowance[]> {
  const calls = Map.groupBy(keys, (key) => key);
  const counted = new Map<string, { consumedPoints: number; readonly msBeforeNext: number }>();
  await Promise.all(
    [...calls].map(async ([key, { length }]) => {
      const { consumedPoints, msBeforeNext } = await consume(limiter, key, length);
      counted.set(key, { consumedPoints: consumedPoints - length, msBeforeNext });
    }),
  );
  return keys.map((key) => {
    const before = counted.get(key);
    if (before === undefined) throw new Error("a key was not counted");
    before.consumedPoints += 1;
    return allowance(window, before);
  });
}

type Counted = Pick<LimitExceeded, "consumedPoints" | "msBeforeNext">;

async function consume(
  limiter: RateLimiterAbstract,
  key: string,
  points: number,
): Promise<Counted> {
  try {
    return await limiter.consume(key, points);
  } catch (error) {
    // The library throws its result when the limit is exceeded; other errors are failures.
    if (error instanceof LimitExceeded) return error;
    throw error;
  }
}

const allowance = (window: Window, { consumedPoints, msBeforeNext }: Counted): Allowance => ({
  window,
  remaining: Math.max(0, window.limit - consumedPoints),
  resetMs: msBeforeNext,
  exhausted: consumedPoints > window.limit,
});
