import path from "node:path";

import type { LoadResult, LoadSpec } from "./load-client.ts";
import { type LoadClient, startLoadClient } from "./load.ts";
import {
  cpuSecondsOf,
  machineCpuSeconds,
  measureCpuShare,
  measureFlushMs,
  residentMiB,
} from "./machine.ts";
import { type PgBench, preparePgBench } from "./pgbench.ts";
import type { Plan } from "./plan.ts";
import type { BenchDatabase, Durability } from "./postgres.ts";
import { openShop, type Shop } from "./shop.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";

export type Surroundings = {
  readonly plan: Plan;
  readonly postgres: BenchDatabase;
  readonly folder: string;
  readonly say: (line: string) => void;
};

/** A and B on the same number of clients and codes; the ratio is the median of the rounds'. */
export type Comparison = {
  readonly codes: number;
  readonly clients: number;
  readonly a: number;
  readonly b: number;
  readonly ratio: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Per redemption: what Postgres takes for A, and Postgres and Node take for B. */
  readonly aPostgresMicroseconds: number;
  readonly bPostgresMicroseconds: number;
  readonly bNodeMicroseconds: number;
};

export type Measured = {
  readonly flushMs: number;
  readonly durability: Durability;
  readonly comparisons: readonly Comparison[];
  readonly withOrder: readonly { readonly codes: number; readonly perSecond: number }[];
  readonly validationsPerSecond: number;
  readonly atRate: { readonly redeem: LoadResult; readonly validate: LoadResult };
  readonly memory: { readonly idleMiB: number; readonly loadedMiB: number };
  /** Shares of one core. */
  readonly idleCpu: { readonly node: number; readonly postgres: number };
  /** What the load client costs, which shares the cores with the server. */
  readonly clientCpuMicroseconds: number;
  /** Cores that other programs took meanwhile: more than a little spoils the figures. */
  readonly otherCores: number;
  readonly redemptions: number;
};

type Bench = Surroundings & {
  readonly standalone: Standalone;
  readonly client: LoadClient;
  readonly shop: Shop;
  readonly pgBench: PgBench;
  /** Redemptions that were answered with 200. */
  acknowledged: number;
};

const ORDER = JSON.stringify({ order: { amount: 10_000 } });

export async function measure(surroundings: Surroundings): Promise<Measured> {
  const { plan, postgres, folder, say } = surroundings;
  const flushMs = measureFlushMs(folder, plan.flushes);
  say(`a flush takes ${flushMs.toFixed(2)} ms; preparing ${plan.codes} codes for either side`);
  const pgBench = await preparePgBench(await postgres.create("bench_a"), plan.codes);
  const databaseUrl = await postgres.create("bench_b");
  await using standalone = await startStandalone({
    databaseUrl,
    dataDir: path.join(folder, "standalone"),
  });
  const idleMiB = residentMiB(standalone.pid);
  const shop = await openShop(standalone, databaseUrl, plan.codes);
  using client = startLoadClient();
  const bench: Bench = { ...surroundings, standalone, client, shop, pgBench, acknowledged: 0 };

  await settle(bench);
  say(`idle for ${plan.idleSeconds} s`);
  const idleCpu = await measureIdle(bench);
  await warmUp(bench);
  const compared = await compare(bench);
  const withOrder = await redeemWithOrder(bench);
  const validationsPerSecond = await validate(bench);
  const atRate = await measureAtRate(bench);
  const loadedMiB = residentMiB(standalone.pid);
  await checkCounts(bench);
  return {
    ...compared,
    flushMs,
    durability: await postgres.durability(databaseUrl),
    withOrder,
    validationsPerSecond,
    atRate,
    memory: { idleMiB, loadedMiB },
    idleCpu,
    redemptions: bench.acknowledged,
  };
}

async function measureIdle(bench: Bench): Promise<Measured["idleCpu"]> {
  const { plan, postgres, standalone } = bench;
  const [node, database] = await Promise.all([
    measureCpuShare(() => cpuSecondsOf(standalone.pid), plan.idleSeconds),
    measureCpuShare(() => postgres.cpuSeconds(), plan.idleSeconds),
  ]);
  return { node, postgres: database };
}

async function warmUp(bench: Bench): Promise<void> {
  const { plan, shop, pgBench, say } = bench;
  say("warming up");
  const connections = Math.max(...plan.clients);
  for (const codes of [shop.hot, shop.many]) {
    await redeem(bench, { connections, codes, seconds: plan.warmUpSeconds });
    await pgBench.measure({
      clients: connections,
      codes: codes.length,
      seconds: Math.ceil(plan.warmUpSeconds / 2),
    });
  }
}

type Round = {
  readonly a: number;
  readonly b: LoadResult;
  readonly aPostgresMicroseconds: number;
  readonly bPostgresMicroseconds: number;
  readonly bNodeMicroseconds: number;
  readonly otherCores: number;
};

type Case = { readonly codes: readonly string[]; readonly clients: number };

async function compare(
  bench: Bench,
): Promise<Pick<Measured, "comparisons" | "clientCpuMicroseconds" | "otherCores">> {
  const { plan, shop, say } = bench;
  const cases: Case[] = [shop.hot, shop.many].flatMap((codes) =>
    plan.clients.map((clients) => ({ codes, clients })),
  );
  const rounds: Round[][] = cases.map(() => []);
  await settle(bench);
  for (let number = 1; number <= plan.rounds; number += 1) {
    for (const [index, each] of cases.entries()) {
      const round = await playRound(bench, each);
      rounds[index]?.push(round);
      say(
        `round ${number}: ${each.codes.length} codes, ${each.clients} clients: ` +
          `A ${round.a.toFixed(0)}/s, B ${round.b.successesPerSecond.toFixed(0)}/s`,
      );
    }
  }
  const all = rounds.flat();
  const redemptions = all.reduce((sum, { b }) => sum + (b.statuses["200"] ?? 0), 0);
  return {
    comparisons: cases.map(({ codes, clients }, index) =>
      summarise({ codes: codes.length, clients }, rounds[index] ?? []),
    ),
    clientCpuMicroseconds: (1e6 * all.reduce((sum, { b }) => sum + b.cpuSeconds, 0)) / redemptions,
    otherCores: median(all.map(({ otherCores }) => otherCores)),
  };
}

/** A, then B. What either leaves to be done afterwards, such as moving events on, counts for it. */
async function playRound(bench: Bench, { codes, clients }: Case): Promise<Round> {
  const { postgres, standalone, plan } = bench;
  const { seconds } = plan;
  const startA = postgres.cpuSeconds();
  const a = await bench.pgBench.measure({ clients, codes: codes.length, seconds });
  await settle(bench);
  const startB = { postgres: postgres.cpuSeconds(), node: cpuSecondsOf(standalone.pid) };
  const othersSince = startMachineUse(bench);
  const b = await redeem(bench, { connections: clients, codes, seconds });
  const otherCores = othersSince(b.cpuSeconds);
  await settle(bench);
  const redemptions = b.statuses["200"] ?? 0;
  return {
    a,
    b,
    otherCores,
    aPostgresMicroseconds: (1e6 * (startB.postgres - startA)) / (a * seconds),
    bPostgresMicroseconds: (1e6 * (postgres.cpuSeconds() - startB.postgres)) / redemptions,
    bNodeMicroseconds: (1e6 * (cpuSecondsOf(standalone.pid) - startB.node)) / redemptions,
  };
}

/** Tells how many cores others used since, given what our client used. */
function startMachineUse({ postgres, standalone }: Bench): (clientSeconds: number) => number {
  const own = (): number => postgres.cpuSeconds() + cpuSecondsOf(standalone.pid);
  const start = performance.now();
  const machine = machineCpuSeconds();
  const before = own();
  return (clientSeconds) =>
    (machineCpuSeconds() - machine - (own() - before) - clientSeconds) /
    ((performance.now() - start) / 1000);
}

function summarise(
  of: { readonly codes: number; readonly clients: number },
  rounds: readonly Round[],
): Comparison {
  const medianOf = (read: (round: Round) => number): number => median(rounds.map(read));
  return {
    ...of,
    a: medianOf(({ a }) => a),
    b: medianOf(({ b }) => b.successesPerSecond),
    ratio: medianOf(({ a, b }) => b.successesPerSecond / a),
    p50Ms: medianOf(({ b }) => b.p50Ms),
    p99Ms: medianOf(({ b }) => b.p99Ms),
    aPostgresMicroseconds: medianOf((round) => round.aPostgresMicroseconds),
    bPostgresMicroseconds: medianOf((round) => round.bPostgresMicroseconds),
    bNodeMicroseconds: medianOf((round) => round.bNodeMicroseconds),
  };
}

async function redeemWithOrder(bench: Bench): Promise<Measured["withOrder"]> {
  const { plan, shop } = bench;
  const rows: { codes: number; perSecond: number }[] = [];
  for (const codes of [shop.hot, shop.many]) {
    await settle(bench);
    const connections = Math.max(...plan.clients);
    const load = { connections, codes, seconds: plan.seconds, body: ORDER };
    const { successesPerSecond } = await redeem(bench, load);
    rows.push({ codes: codes.length, perSecond: successesPerSecond });
  }
  return rows;
}

async function validate(bench: Bench): Promise<number> {
  const { plan, shop, client } = bench;
  await settle(bench);
  const result = await client.run(
    shop.load({
      action: "validate",
      body: ORDER,
      connections: Math.max(...plan.clients),
      codes: shop.many,
      seconds: plan.seconds,
    }),
  );
  mustBeAnswered(result);
  return result.successesPerSecond;
}

async function measureAtRate(bench: Bench): Promise<Measured["atRate"]> {
  const { plan, shop, client } = bench;
  const load = {
    connections: Math.max(...plan.clients),
    codes: shop.many,
    seconds: plan.rateSeconds,
    ratePerSecond: plan.ratePerSecond,
    body: ORDER,
  };
  await settle(bench);
  const redeemed = await redeem(bench, load);
  await settle(bench);
  const validated = await client.run(shop.load({ ...load, action: "validate" }));
  mustBeAnswered(validated);
  return { redeem: redeemed, validate: validated };
}

async function redeem(
  bench: Bench,
  load: Omit<Parameters<Shop["load"]>[0], "action">,
): Promise<LoadResult> {
  const spec: LoadSpec = bench.shop.load({ ...load, action: "redemption" });
  const result = await bench.client.run(spec);
  mustBeAnswered(result);
  bench.acknowledged += result.statuses["200"] ?? 0;
  return result;
}

/** Nothing in this benchmark may be refused: the codes have no limit and rate limits are off. */
function mustBeAnswered({ statuses, unanswered, oddAnswer }: LoadResult): void {
  const others = Object.keys(statuses).filter((status) => status !== "200");
  if (unanswered === 0 && others.length === 0) return;
  throw new Error(
    `${unanswered} requests had no answer, others were answered ${JSON.stringify(statuses)}:\n${oddAnswer}`,
  );
}

async function checkCounts({ shop, acknowledged }: Bench): Promise<void> {
  const stored = await shop.countRedemptions();
  if (stored !== acknowledged) {
    throw new Error(`${acknowledged} redemptions were answered, ${stored} are in the database`);
  }
}

const QUIET_SHARE = 0.15;
const QUIET_PROBE_S = 0.25;
const MOST_PROBES = 60;

/** Waits until events are moved on and pages written back, so that no side pays for the other. */
async function settle({ postgres, standalone, say }: Bench): Promise<void> {
  for (let probe = 0; probe < MOST_PROBES; probe += 1) {
    const used = (): number => postgres.cpuSeconds() + cpuSecondsOf(standalone.pid);
    if ((await measureCpuShare(used, QUIET_PROBE_S)) < QUIET_SHARE) return;
  }
  say("the system does not become quiet; measuring all the same");
}
