import type { LoadResult } from "./shop.ts";

/** Paid orders per second: faults are about order and exactness, not about capacity. */
export const PER_SECOND = 25;
export const WARM_UP_MS = 2_000;

export function describeLoad({ requests, failures, errors }: LoadResult): string {
  const named = [...errors].map(([name, count]) => `${name}: ${count}`).join(", ");
  return `${requests} requests, ${failures} failed${named === "" ? "" : ` (${named})`}`;
}
