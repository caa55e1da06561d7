import path from "node:path";

import { compare, type Compared } from "./compare.ts";
import { type Decisions, measureDecisions } from "./decisions.ts";
import { type EngineRate, measureEngine } from "./engine.ts";
import { type Codes, createFixtures, type Kind, KINDS } from "./fixtures.ts";
import { type Forms, measureForms } from "./forms.ts";
import { type Growth, measureGrowth } from "./growth.ts";
import type { LoadResult } from "./load-client.ts";
import { startLoadClient } from "./load.ts";
import { cpuSecondsOf, measureCpuShare, measureFlushMs, residentMiB } from "./machine.ts";
import { preparePgBench } from "./pgbench.ts";
import type { Durability } from "./postgres.ts";
import { type Bench, redeem, run, settle, type BenchContext } from "./running.ts";
import { startStandalone } from "./standalone.ts";

export type Latencies = { readonly redeem: LoadResult; readonly validate: LoadResult };

export type Measured = Compared & {
  readonly flushMs: number;
  readonly durability: Durability;
  readonly validationsPerSecond: number;
  /** Redemptions with rules, customer and order. */
  readonly orderedPerSecond: number;
  /** Requests of a shop from one client. */
  readonly alone: Latencies;
  /** At a fixed rate. */
  readonly redeemAtRate: Readonly<Record<(typeof AT_RATE)[number], LoadResult>>;
  /** Of a shop. */
  readonly validateAtRate: LoadResult;
  /** Redemptions with rules, customer and order at half of their greatest rate. */
  readonly atHalf: LoadResult;
  readonly memory: { readonly idleMiB: number; readonly loadedMiB: number };
  /** Shares of one core. */
  readonly idleCpu: { readonly node: number; readonly postgres: number };
  readonly redemptions: number;
  readonly decisions: Decisions;
  readonly growth: Growth;
  readonly forms: Forms;
  readonly engine: readonly EngineRate[];
};

/** Kinds that are redeemed at a fixed rate. */
export const AT_RATE = ["shop", "plain", "ordered"] as const satisfies readonly Kind[];

const ORDER = JSON.stringify({ order: { amount: 10_000 } });

export async function measure(context: BenchContext): Promise<Measured> {
  const { plan, postgres, folder, log } = context;
  const flushMs = measureFlushMs(folder, plan.flushes);
  const engine = await measureEngine(context);
  log(`a flush takes ${flushMs.toFixed(2)} ms; preparing ${plan.codes} codes for either side`);
  const redemptions = await measureRedemptions(context);
  return {
    ...redemptions,
    flushMs,
    engine,
    growth: await measureGrowth(context),
    forms: await measureForms(context),
    durability: await postgres.durability(redemptions.databaseUrl),
  };
}

async function measureRedemptions(context: BenchContext) {
  const { plan, postgres, folder, log } = context;
  const pgBench = await preparePgBench(await postgres.create("bench_a"), plan.codes);
  const databaseUrl = await postgres.create("bench_b");
  await using standalone = await startStandalone({
    databaseUrl,
    dataDir: path.join(folder, "standalone"),
  });
  const idleMiB = residentMiB(standalone.pid);
  const fixtures = await createFixtures(standalone, databaseUrl, plan.codes);
  using client = startLoadClient();
  const bench: Bench = { ...context, standalone, client, fixtures, pgBench, acknowledged: 0 };

  await settle(bench);
  log(`idle for ${plan.idleSeconds} s`);
  const idleCpu = await measureIdle(bench);
  await warmUp(bench);
  const compared = await compare(bench);
  const validationsPerSecond = await validate(bench);
  const alone = await measureAlone(bench);
  const ordered = { ...fixtures.ordered.many, connections: Math.max(...plan.clients) };
  await settle(bench);
  const { successesPerSecond: orderedPerSecond } = await redeem(bench, {
    ...ordered,
    seconds: plan.seconds,
  });
  const redeemAtRate = {
    shop: await atRate(bench, fixtures.shop.many),
    plain: await atRate(bench, fixtures.plain.many),
    ordered: await atRate(bench, fixtures.ordered.many),
  };
  const validateAtRate = await measureValidationsAtRate(bench);
  await settle(bench);
  const atHalf = await redeem(bench, {
    ...ordered,
    seconds: plan.rateSeconds,
    ratePerSecond: orderedPerSecond / 2,
  });
  const decisions = await measureDecisions(bench);
  const loadedMiB = residentMiB(standalone.pid);
  await checkCounts(bench);
  return {
    ...compared,
    databaseUrl,
    validationsPerSecond,
    alone,
    orderedPerSecond,
    redeemAtRate,
    validateAtRate,
    atHalf,
    decisions,
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
  const { plan, fixtures, pgBench, log } = bench;
  log("warming up");
  const connections = Math.max(...plan.clients);
  const seconds = plan.warmUpSeconds;
  for (const which of ["hot", "many"] as const) {
    for (const kind of KINDS)
      await redeem(bench, { ...fixtures[kind][which], connections, seconds });
    await pgBench.measure({
      script: "shop",
      clients: connections,
      codes: fixtures.plain[which].codes.length,
      seconds: Math.ceil(seconds / 2),
    });
  }
}

async function validate(bench: Bench): Promise<number> {
  const { plan, fixtures } = bench;
  await settle(bench);
  const spec = fixtures.load({
    action: "validate",
    body: ORDER,
    connections: Math.max(...plan.clients),
    codes: fixtures.plain.many.codes,
    seconds: plan.seconds,
  });
  return (await run(bench, spec)).successesPerSecond;
}

/** The latency of requests that nothing else delays. */
async function measureAlone(bench: Bench): Promise<Latencies> {
  const { plan, fixtures } = bench;
  const load = { ...fixtures.shop.many, connections: 1, seconds: plan.seconds };
  await settle(bench);
  const redeemed = await redeem(bench, load);
  await settle(bench);
  const validated = await run(bench, fixtures.load({ ...load, keyed: false, action: "validate" }));
  return { redeem: redeemed, validate: validated };
}

async function measureValidationsAtRate(bench: Bench): Promise<LoadResult> {
  const { fixtures } = bench;
  await settle(bench);
  const load = { ...fixtures.shop.many, ...rateOf(bench), keyed: false };
  return await run(bench, fixtures.load({ ...load, action: "validate" }));
}

async function atRate(bench: Bench, codes: Codes): Promise<LoadResult> {
  await settle(bench);
  return await redeem(bench, { ...codes, ...rateOf(bench) });
}

const rateOf = ({ plan }: Bench) => ({
  connections: Math.max(...plan.clients),
  seconds: plan.rateSeconds,
  ratePerSecond: plan.ratePerSecond,
});

async function checkCounts({ fixtures, acknowledged }: Bench): Promise<void> {
  const stored = await fixtures.countRedemptions();
  if (stored !== acknowledged) {
    throw new Error(`${acknowledged} redemptions were acknowledged, ${stored} are in the database`);
  }
}
