import { performance } from "node:perf_hooks";

/** What one system did in a round. */
export type Figures = {
  readonly operations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** What became of concurrent redemptions of one code. */
export type Outcomes = {
  readonly accepted: number;
  /** Rejected because of the limit. */
  readonly rejected: number;
  /** Everything else, by message. */
  readonly failed: Readonly<Record<string, number>>;
  readonly seconds: number;
};

/** Thrown by an operation that the system rejects because of the limit of the code. */
export class LimitReached extends Error {}

/** Repeats the operation, one at a time per client, until the time is over. Operations must not fail. */
export async function drive(spec: {
  readonly clients: number;
  readonly seconds: number;
  readonly operation: () => Promise<void>;
}): Promise<Figures> {
  const latencies: number[] = [];
  const start = performance.now();
  const endsAt = start + spec.seconds * 1000;
  await Promise.all(
    Array.from({ length: spec.clients }, async () => {
      for (let since = start; since < endsAt; since = performance.now()) {
        await spec.operation();
        latencies.push(performance.now() - since);
      }
    }),
  );
  const sorted = latencies.toSorted((a, b) => a - b);
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    operations: latencies.length,
    // To the end of the last operation, all of which count.
    perSecond: latencies.length / ((performance.now() - start) / 1000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}

/** Starts all attempts at once. */
export async function race(
  attempts: number,
  operation: (attempt: number) => Promise<void>,
): Promise<Outcomes> {
  const start = performance.now();
  const results = await Promise.allSettled(
    Array.from({ length: attempts }, (_, attempt) => operation(attempt)),
  );
  const seconds = (performance.now() - start) / 1000;
  const failed: Record<string, number> = {};
  let rejected = 0;
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const reason: unknown = result.reason;
    if (reason instanceof LimitReached) rejected += 1;
    else failed[String(reason)] = (failed[String(reason)] ?? 0) + 1;
  }
  const accepted = results.filter(({ status }) => status === "fulfilled").length;
  return { accepted, rejected, failed, seconds };
}
