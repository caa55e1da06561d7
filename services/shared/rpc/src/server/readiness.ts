import { setTimeout as sleep } from "node:timers/promises";

import { checkWrites, type Database, writeFailureOf } from "@scrip/postgres";

/** Why a service or a process cannot work. */
export type UnreadyReason =
  | ReturnType<typeof writeFailureOf>
  | "timeout"
  | "not_serving"
  | "shutting_down";

/** Undefined when it can work. */
export type ReadinessCheck = () => Promise<UnreadyReason | undefined>;

/** Probes come from every load balancer, and from anyone: they share one check per second. */
const CACHE_MS = 1_000;
/** A process that asks this one waits 100 ms longer, and a probe of Kubernetes 300 ms. */
const TIMEOUT_MS = 700;

/**
 * Limits how often `check` runs and how long its callers wait. While a check hangs, no other is
 * started, and callers get `timeout` immediately.
 */
export function sharedCheck<Result>(
  check: () => Promise<Result>,
  { timeoutMs, onTimeout }: { readonly timeoutMs: number; readonly onTimeout: Result },
): () => Promise<Result> {
  let latest: { readonly result: Result; readonly at: number } | undefined;
  let running: { readonly result: Promise<Result>; readonly since: number } | undefined;
  const start = async (): Promise<Result> => {
    try {
      const result = await check();
      latest = { result, at: performance.now() };
      return result;
    } finally {
      running = undefined;
    }
  };
  return async () => {
    const now = performance.now();
    if (latest !== undefined && now - latest.at < CACHE_MS) return latest.result;
    running ??= { result: start(), since: now };
    const left = running.since + timeoutMs - now;
    if (left <= 0) return onTimeout;
    return Promise.race([running.result, sleep(left, onTimeout, { ref: false })]);
  };
}

/**
 * The readiness of a service: whether its database takes writes. `onError` receives the cause when
 * the reason changes.
 */
export function createReadiness(db: Database, onError: (error: Error) => void): ReadinessCheck {
  let last: UnreadyReason | undefined;
  return sharedCheck<UnreadyReason | undefined>(
    async () => {
      const [reason, cause] = await checkWrites(db).then(
        () => [undefined, undefined] as const,
        (error: unknown) => [writeFailureOf(error), error] as const,
      );
      if (reason !== undefined && reason !== last) {
        onError(new Error(`not ready: the database does not take writes (${reason})`, { cause }));
      }
      last = reason;
      return reason;
    },
    { timeoutMs: TIMEOUT_MS, onTimeout: "timeout" },
  );
}
