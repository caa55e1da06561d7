/**
 * Compares the redemptions of two checkouts, for instance of a branch and its base:
 *
 *     node scripts/run.mjs node test/load/pairs.ts <other checkout> [kinds, default plain,ruled,ordered,shop]
 *
 * Both run at the same time on one Postgres server, in databases of their own, and take turns: the other checkout,
 * then this one. Other programs on the machine disturb the processor time least; of each, the median of the rounds and of
 * the rounds' ratios is reported.
 */
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { createFixtures, type Fixtures, type Kind, KINDS } from "./fixtures.ts";
import { startLoadClient } from "./load.ts";
import { cpuSecondsOf } from "./machine.ts";
import { openBenchDatabase } from "./postgres.ts";
import { type Bench, run } from "./running.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";
import { count, table } from "./table.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FOLDER = path.join(ROOT, `.scrip-pairs-${process.pid}`);
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const SECONDS = Number(process.env["SECONDS"] ?? 4);
const CODES = Number(process.env["CODES"] ?? 100_000);
const CLIENTS = Number(process.env["CLIENTS"] ?? 128);
/** Time to deliver the events of a round, which counts for it. */
const REST_MS = 1_500;

type Side = { readonly standalone: Standalone; readonly fixtures: Fixtures };

type Figures = {
  readonly perSecond: number;
  readonly node: number;
  readonly postgres: number;
  readonly p50: number;
};

async function main(): Promise<void> {
  const [other, names = KINDS.join(",")] = process.argv.slice(2);
  if (other === undefined) throw new Error("name the other checkout");
  const kinds = KINDS.filter((kind) => names.split(",").includes(kind));
  await mkdir(FOLDER);
  try {
    await compareWith(path.resolve(other), kinds);
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

async function compareWith(other: string, kinds: readonly Kind[]): Promise<void> {
  await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
  await using parts = new AsyncDisposableStack();
  using client = startLoadClient();
  const start = async (name: string, checkout: string): Promise<Side> => {
    const databaseUrl = await postgres.create(name);
    const dataDir = path.join(FOLDER, name);
    const standalone = parts.use(await startStandalone({ databaseUrl, dataDir, checkout }));
    return { standalone, fixtures: await createFixtures(standalone, databaseUrl, CODES) };
  };
  const sides = [await start("before", other), await start("after", ROOT)] as const;

  const play = async ({ standalone, fixtures }: Side, kind: Kind, which: "hot" | "many") => {
    const before = { node: cpuSecondsOf(standalone.pid), postgres: postgres.cpuSeconds() };
    const load = { ...fixtures[kind][which], connections: CLIENTS, seconds: SECONDS };
    const bench: Pick<Bench, "client"> = { client };
    const result = await run(bench, fixtures.load({ ...load, action: "redemption" }));
    await sleep(REST_MS);
    const perRedemption = 1e6 / (result.statuses["200"] ?? 0);
    return {
      perSecond: result.successesPerSecond,
      node: (cpuSecondsOf(standalone.pid) - before.node) * perRedemption,
      postgres: (postgres.cpuSeconds() - before.postgres) * perRedemption,
      p50: result.p50Ms,
    };
  };

  const rows: string[][] = [];
  for (const kind of kinds) {
    for (const which of ["hot", "many"] as const) {
      const rounds: (readonly [Figures, Figures])[] = [];
      // The first round warms up and is not counted.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const pair = [
          await play(sides[0], kind, which),
          await play(sides[1], kind, which),
        ] as const;
        if (round > 0) rounds.push(pair);
      }
      rows.push([kind, which, ...FIGURES.map((figure) => compared(rounds, figure))]);
      process.stderr.write(`${rows.at(-1)?.join("  ")}\n`);
    }
  }
  process.stdout.write(
    `\n${table(["request", "codes", "redemptions/s", "Node µs", "Postgres µs", "p50 ms"], rows)}`,
  );
}

const FIGURES = ["perSecond", "node", "postgres", "p50"] as const;

function compared(rounds: readonly (readonly [Figures, Figures])[], figure: keyof Figures): string {
  const before = median(rounds.map(([one]) => one[figure]));
  const after = median(rounds.map(([, two]) => two[figure]));
  const ratio = median(rounds.map(([one, two]) => two[figure] / one[figure]));
  return `${count(before)} → ${count(after)} (${ratio.toFixed(2)})`;
}

await main();
