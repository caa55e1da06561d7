import { setTimeout as sleep } from "node:timers/promises";

import type { ApiResponse } from "../stack/api.ts";
import { NO_CONNECTION } from "../stack/retry.ts";

/** Requests that are sent one after the other, whatever is returned. */
export type Probes = {
  readonly count: number;
  /** How many responses had a status; 0 stands for a connection that ended. */
  readonly statuses: ReadonlyMap<number, number>;
  /** In ascending order. */
  readonly times: readonly number[];
};

const PAUSE_MS = 50;

/** Sends requests in `clients` sequences for `ms`. */
export async function probe(
  ms: number,
  clients: number,
  send: () => Promise<Pick<ApiResponse, "status">>,
): Promise<Probes> {
  const endsAt = performance.now() + ms;
  const statuses = new Map<number, number>();
  const times: number[] = [];
  const sendAll = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      const { status } = await send().catch(() => NO_CONNECTION);
      times.push(performance.now() - startedAt);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: clients }, sendAll));
  return { count: times.length, statuses, times: times.toSorted((a, b) => a - b) };
}

/** The time that so large a part of the requests did not exceed. */
export const quantile = ({ times }: Probes, part: number): number =>
  times[Math.min(Math.floor(times.length * part), times.length - 1)] ?? 0;

export const slowest = (probes: Probes): number => quantile(probes, 1);

export const countOf = ({ statuses }: Probes, ...wanted: readonly number[]): number =>
  wanted.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0);

export function describeProbes(probes: Probes): string {
  const statuses = [...probes.statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  const p99 = quantile(probes, 0.99).toFixed(0);
  return `${statuses}; p99 ${p99} ms, slowest ${slowest(probes).toFixed(0)} ms`;
}
