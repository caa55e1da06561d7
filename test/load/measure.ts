import path from "node:path";

import { compare, type Compared } from "./compare.ts";
import { type Decisions, measureDecisions } from "./decisions.ts";
import { type EngineRate, measureEngine } from "./engine.ts";
import { type Growth, measureGrowth } from "./growth.ts";
import type { LoadResult } from "./load-client.ts";
import { startLoadClient } from "./load.ts";
import { cpuSecondsOf, measureCpuShare, measureFlushMs, residentMiB } from "./machine.ts";
import { preparePgBench } from "./pgbench.ts";
import type { Durability } from "./postgres.ts";
import { type Bench, redeem, run, settle, type Surroundings } from "./running.ts";
import { type Codes, KINDS, openShop } from "./shop.ts";
import { startStandalone } from "./standalone.ts";

export type Latencies = { readonly redeem: LoadResult; readonly validate: LoadResult };

export type Measured = Compared & {
  readonly flushMs: number;
  readonly durability: Durability;
  readonly withOrder: readonly { readonly codes: number; readonly perSecond: number }[];
  readonly validationsPerSecond: number;
  readonly atRate: { readonly plain: Latencies; readonly ordered: Latencies };
  readonly memory: { readonly idleMiB: number; readonly loadedMiB: number };
  /** Shares of one core. */
  readonly idleCpu: { readonly node: number; readonly postgres: number };
  readonly redemptions: number;
  readonly decisions: Decisions;
  readonly growth: Growth;
  readonly engine: readonly EngineRate[];
};

const ORDER = JSON.stringify({ order: { amount: 10_000 } });

export async function measure(surroundings: Surroundings): Promise<Measured> {
  const { plan, postgres, folder, say } = surroundings;
  const flushMs = measureFlushMs(folder, plan.flushes);
  const engine = await measureEngine(surroundings);
  say(`a flush takes ${flushMs.toFixed(2)} ms; preparing ${plan.codes} codes for either side`);
  const redemptions = await measureRedemptions(surroundings);
  return {
    ...redemptions,
    flushMs,
    engine,
    growth: await measureGrowth(surroundings),
    durability: await postgres.durability(redemptions.databaseUrl),
  };
}

async function measureRedemptions(surroundings: Surroundings) {
  const { plan, postgres, folder, say } = surroundings;
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
  const atRate = {
    plain: await measureAtRate(bench, { codes: shop.plain.many.codes, body: ORDER }),
    ordered: await measureAtRate(bench, shop.ordered.many),
  };
  const decisions = await measureDecisions(bench);
  const loadedMiB = residentMiB(standalone.pid);
  await checkCounts(bench);
  return {
    ...compared,
    databaseUrl,
    withOrder,
    validationsPerSecond,
    atRate,
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
  const { plan, shop, pgBench, say } = bench;
  say("warming up");
  const connections = Math.max(...plan.clients);
  const seconds = plan.warmUpSeconds;
  for (const which of ["hot", "many"] as const) {
    for (const kind of KINDS) await redeem(bench, { ...shop[kind][which], connections, seconds });
    await pgBench.measure({
      clients: connections,
      codes: shop.plain[which].codes.length,
      seconds: Math.ceil(seconds / 2),
    });
  }
}

async function redeemWithOrder(bench: Bench): Promise<Measured["withOrder"]> {
  const { plan, shop } = bench;
  const rows: { codes: number; perSecond: number }[] = [];
  for (const { codes } of [shop.plain.hot, shop.plain.many]) {
    await settle(bench);
    const connections = Math.max(...plan.clients);
    const load = { connections, codes, seconds: plan.seconds, body: ORDER };
    const { successesPerSecond } = await redeem(bench, load);
    rows.push({ codes: codes.length, perSecond: successesPerSecond });
  }
  return rows;
}

async function validate(bench: Bench): Promise<number> {
  const { plan, shop } = bench;
  await settle(bench);
  const spec = shop.load({
    action: "validate",
    body: ORDER,
    connections: Math.max(...plan.clients),
    codes: shop.plain.many.codes,
    seconds: plan.seconds,
  });
  return (await run(bench, spec)).successesPerSecond;
}

async function measureAtRate(bench: Bench, codes: Codes): Promise<Latencies> {
  const { plan, shop } = bench;
  const load = {
    ...codes,
    connections: Math.max(...plan.clients),
    seconds: plan.rateSeconds,
    ratePerSecond: plan.ratePerSecond,
  };
  await settle(bench);
  const redeemed = await redeem(bench, load);
  await settle(bench);
  const validated = await run(bench, shop.load({ ...load, action: "validate" }));
  return { redeem: redeemed, validate: validated };
}

async function checkCounts({ shop, acknowledged }: Bench): Promise<void> {
  const stored = await shop.countRedemptions();
  if (stored !== acknowledged) {
    throw new Error(`${acknowledged} redemptions were acknowledged, ${stored} are in the database`);
  }
}
