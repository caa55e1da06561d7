import type { Fixtures } from "./fixtures.ts";
import type { LoadResult, LoadSpec } from "./load-client.ts";
import type { LoadClient } from "./load.ts";
import { cpuSecondsOf, measureCpuShare } from "./machine.ts";
import type { PgBench } from "./pgbench.ts";
import type { Plan } from "./plan.ts";
import type { BenchDatabase } from "./postgres.ts";
import type { Standalone } from "./standalone.ts";

export type BenchContext = {
  readonly plan: Plan;
  readonly postgres: BenchDatabase;
  readonly folder: string;
  readonly log: (line: string) => void;
};

export type Bench = BenchContext & {
  readonly standalone: Standalone;
  readonly client: LoadClient;
  readonly fixtures: Fixtures;
  readonly pgBench: PgBench;
  /** Redemptions with status 200. */
  acknowledged: number;
};

export async function redeem(
  bench: Bench,
  load: Omit<Parameters<Fixtures["load"]>[0], "action">,
): Promise<LoadResult> {
  const result = await run(bench, bench.fixtures.load({ ...load, action: "redemption" }));
  bench.acknowledged += result.statuses["200"] ?? 0;
  return result;
}

/** No request of the benchmark may be rejected: the codes have no limits, and rate limits are off. */
export async function run({ client }: Pick<Bench, "client">, spec: LoadSpec): Promise<LoadResult> {
  const result = await client.run(spec);
  const { statuses, lost, unexpectedResponse } = result;
  const others = Object.keys(statuses).filter((status) => status !== "200");
  if (lost === 0 && others.length === 0) return result;
  throw new Error(
    `${lost} requests were lost, others returned ${JSON.stringify(statuses)}:\n${unexpectedResponse}`,
  );
}

const QUIET_SHARE = 0.15;
const QUIET_PROBE_S = 0.25;
const MOST_PROBES = 60;

/** Waits until events are delivered and pages written back, so that no side pays for the other. */
export const settle = ({
  postgres,
  standalone,
  log,
}: Pick<Bench, "postgres" | "standalone" | "log">): Promise<void> =>
  becomeQuiet(() => postgres.cpuSeconds() + cpuSecondsOf(standalone.pid), log);

/** Waits until processes use little processor time; `used` is what they have used. */
export async function becomeQuiet(used: () => number, log: BenchContext["log"]): Promise<void> {
  for (let probe = 0; probe < MOST_PROBES; probe += 1) {
    if ((await measureCpuShare(used, QUIET_PROBE_S)) < QUIET_SHARE) return;
  }
  log("the system does not become quiet; measuring all the same");
}
