/**
 * Compares Scrip with products that a shop would choose instead (see README.md):
 *
 *     node scripts/run.mjs node test/load/peers/run.ts [--rounds 3] [--smoke]
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { cpuSecondsOf, describeMachine, measureFlushMs } from "../machine.ts";
import { type BenchDatabase, openBenchDatabase } from "../postgres.ts";
import { ACTIONS, type Contender, type Race, type Round } from "./contender.ts";
import { installPeers } from "./install.ts";
import type { Measured, Plan, RoundFigures, Series } from "./measured.ts";
import { startMedusa } from "./medusa.ts";
import { closeConnections } from "./post.ts";
import { formatReport } from "./report.ts";
import { startScrip } from "./scrip.ts";
import { startVendure } from "./vendure.ts";

const RESULTS = path.join(import.meta.dirname, "RESULTS.md");
// In the checkout and not in the system's temporary folder, which may be in memory.
const FOLDER = path.join(import.meta.dirname, "../../..", `.scrip-peers-${process.pid}`);

const FULL: Plan = { rounds: 3, seconds: 2, clients: [1, 8, 32], attempts: 1_000, flushes: 300 };
/** Shows that everything works; its figures mean nothing. */
const SMOKE: Plan = { rounds: 1, seconds: 0.5, clients: [8], attempts: 150, flushes: 20 };

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { smoke: { type: "boolean" }, rounds: { type: "string" } },
  });
  const isSmoke = options.smoke === true;
  const started = performance.now();
  await installPeers(log);
  await mkdir(FOLDER);
  try {
    const plan = isSmoke ? SMOKE : { ...FULL, rounds: Number(options.rounds ?? FULL.rounds) };
    const measured = await measure(plan);
    const report = await formatReport({
      measured,
      plan,
      machine: describeMachine(),
      date: new Date().toISOString().slice(0, 10),
      seconds: (performance.now() - started) / 1000,
    });
    process.stdout.write(`\n${report}`);
    if (!isSmoke) await writeFile(RESULTS, report);
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

async function measure(plan: Plan): Promise<Measured> {
  const flushMs = measureFlushMs(FOLDER, plan.flushes);
  await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
  await using parts = new AsyncDisposableStack();
  const medusaUrl = await postgres.create("peer_medusa");
  const vendureUrl = await postgres.create("peer_vendure");
  log("preparing the same promotions and carts in each system");
  const contenders = [
    parts.use(await startScrip({ postgres, dataDir: path.join(FOLDER, "scrip"), log })),
    parts.use(await startMedusa(medusaUrl)),
    parts.use(await startVendure(vendureUrl)),
  ];
  await warmUp(contenders, plan);
  const series = await measureRounds(contenders, postgres, plan);
  const races: { system: string; race: Race }[] = [];
  for (const contender of contenders) {
    log(`${contender.name}: concurrent redemptions of a limited code`);
    closeConnections();
    races.push({ system: contender.name, race: await contender.race(plan.attempts) });
  }
  const { version } = await postgres.durability(medusaUrl);
  return { flushMs, postgres: version, series, races };
}

async function warmUp(contenders: readonly Contender[], plan: Plan): Promise<void> {
  for (const contender of contenders) {
    log(`${contender.name}: warming up`);
    closeConnections();
    for (const action of ACTIONS)
      await contender.measure({ action, clients: 8, seconds: plan.seconds });
  }
}

async function measureRounds(
  contenders: readonly Contender[],
  postgres: BenchDatabase,
  plan: Plan,
): Promise<readonly Series[]> {
  const series: Series[] = ACTIONS.flatMap((action) =>
    plan.clients.flatMap((clients) =>
      contenders.map(({ name: system }) => ({ action, clients, system, rounds: [] })),
    ),
  );
  for (let round = 1; round <= plan.rounds; round += 1) {
    log(`round ${round} of ${plan.rounds}`);
    for (const { action, clients, system, rounds } of series) {
      const contender = contenders.find(({ name }) => name === system);
      if (contender === undefined) continue;
      const { seconds } = plan;
      rounds.push(await measureRound(contender, postgres, { action, clients, seconds }));
    }
  }
  return series;
}

async function measureRound(
  contender: Contender,
  postgres: BenchDatabase,
  round: Round,
): Promise<RoundFigures> {
  const used = () => ({ node: cpuSecondsOf(contender.pid), postgres: postgres.cpuSeconds() });
  closeConnections();
  const before = used();
  const figures = await contender.measure(round);
  const after = used();
  const perOperation = 1000 / figures.operations;
  return {
    ...figures,
    cpuMs: {
      node: (after.node - before.node) * perOperation,
      postgres: (after.postgres - before.postgres) * perOperation,
    },
  };
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

await main();
