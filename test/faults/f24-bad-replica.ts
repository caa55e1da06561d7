import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import type { CallFault } from "./call-proxy.ts";
import type { Experiment, FaultContext } from "./fault.ts";
import type { Installation } from "./installation.ts";
import { describeLoad, WARM_UP_MS } from "./load.ts";
import { sumOfMetric } from "./metrics.ts";
import { describeProbes, probe, slowest } from "./probes.ts";
import type { LoadResult } from "./shop.ts";

const PHASE_MS = 30_000;
const SHORT_PHASE_MS = 10_000;
const PER_SECOND = 40;
const DELAY_MS = 2_000;
const ERRORS = 0.3;
/** The deadline of a request, and what a busy machine adds. */
const MAX_MS = 8_000 + 1_000;
/** The burst of the two gateways, which is more than the rest of a tenth as long as the calls are few. */
const SAVED = 10 * 2;
const SHARE = 0.08;
const MAX_REPEATED = 0.1;
const OPENS_MS = 10_000;
/** How often an open circuit tries one call. */
const TRIAL_MS = 5_000;

export const badReplica: Experiment = {
  id: "F24",
  title: "Validation is 2 s late, breaks off 30 % of the calls, fails, or never responds",
  criterion:
    "deadlines hold, at most a tenth of the calls is repeated, the circuit opens within 10 s, and nothing is executed twice",
  inEveryRun: true,
  buses: ["postgres"],
  setup: {
    composition: "distributed",
    callsProxied: "validation",
    replicas: { gateway: 2, validation: 2 },
  },
  async run(installation, context) {
    const ms = context.full ? PHASE_MS : SHORT_PHASE_MS;
    const [bad] = installation.callProxies;
    assert(bad !== undefined && installation.callProxies.length === 2, "two replicas");
    await lateReplica(installation, context, ms);
    await brokenOffCalls(installation, context, ms);
    await failingReplica(installation, context, ms);
    await silentReplica(installation, context, ms);
    context.report(`accruals complete after ${(await installation.shop.settle()).toFixed(0)} ms`);
  },
};

/** Runs a load while the first `count` replicas are impaired. */
async function impaired(
  { shop, callProxies }: Installation,
  count: number,
  decide: () => CallFault,
  ms: number,
): Promise<LoadResult> {
  const load = shop.load(PER_SECOND);
  await sleep(WARM_UP_MS);
  for (const proxy of callProxies.slice(0, count)) proxy.impair(decide);
  await sleep(ms);
  const result = await load.stop();
  for (const proxy of callProxies) proxy.impair(() => 0);
  return result;
}

async function lateReplica(
  installation: Installation,
  { report }: FaultContext,
  ms: number,
): Promise<void> {
  const { shop, callProxies } = installation;
  const before = callProxies.map(({ arrivals }) => arrivals.length);
  const [result, probes] = await Promise.all([
    impaired(installation, 1, () => DELAY_MS, ms),
    probe(ms, 4, () => shop.api.get("/v1/orders?limit=1")),
  ]);
  const [late, other] = callProxies.map(({ arrivals }, at) => arrivals.length - before[at]!);
  report(
    `one replica ${DELAY_MS} ms late: ${describeLoad(result)}; reads ${describeProbes(probes)}`,
  );
  report(`it got ${late} of ${late! + other!} calls`);
  assert(result.failures === 0, "requests failed because of a slow replica");
  assert(slowest(probes) < MAX_MS, "a request exceeded its deadline");
}

async function brokenOffCalls(
  installation: Installation,
  { random, report }: FaultContext,
  ms: number,
): Promise<void> {
  const { stack, callProxies } = installation;
  const count = (): number => callProxies.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  const retries = (): Promise<number> =>
    sumOfMetric(stack, "rpc_retries_total", 'service="validation"');
  const before = { calls: count(), retries: await retries() };
  const decide = (): CallFault => (random() < ERRORS ? "fail" : 0);
  const result = await impaired(installation, 2, decide, ms);
  const repeated = (await retries()) - before.retries;
  const calls = count() - before.calls - repeated;
  const factor = ((calls + repeated) / calls).toFixed(3);
  report(`30 % of all calls broken off: ${describeLoad(result)}`);
  report(`${calls} calls, ${repeated} repeated by Scrip (${factor} times the load)`);
  assert(repeated > 0, "no call was repeated");
  assert(
    repeated <= Math.max(calls * MAX_REPEATED, calls * SHARE + SAVED),
    "retries amplify the load",
  );
}

async function failingReplica(
  installation: Installation,
  { report }: FaultContext,
  ms: number,
): Promise<void> {
  const [bad] = installation.callProxies;
  const load = installation.shop.load(PER_SECOND);
  await sleep(WARM_UP_MS);
  const startedAt = performance.now();
  bad!.impair(() => "fail");
  await sleep(OPENS_MS + ms);
  bad!.impair(() => 0);
  const times = bad!.arrivals.filter((at) => at >= startedAt).map((at) => at - startedAt);
  const result = await load.stop();
  const later = times.filter((at) => at >= OPENS_MS && at < OPENS_MS + ms);
  const trials = 2 * (Math.floor(ms / TRIAL_MS) + 1);
  report(
    `one replica breaks off all calls: ${describeLoad(result)}; it got ${times.length - later.length} calls within ${OPENS_MS / 1_000} s, ${later.length} in the next ${ms / 1_000} s`,
  );
  assert(later.length <= trials, "the circuit is not open");
}

async function silentReplica(
  installation: Installation,
  { report }: FaultContext,
  ms: number,
): Promise<void> {
  const { shop } = installation;
  const [result, probes] = await Promise.all([
    impaired(installation, 1, () => "stall", ms),
    probe(ms, 4, () => shop.api.get("/v1/orders?limit=1")),
  ]);
  report(`one replica never responds: ${describeLoad(result)}; reads ${describeProbes(probes)}`);
  assert(slowest(probes) < MAX_MS, "a request exceeded its deadline");
}
