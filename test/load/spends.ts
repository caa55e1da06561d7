import { mkdir, rm } from "node:fs/promises";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { type Api, openApi } from "./api.ts";
import { copyOf, copyVoucher } from "./fixtures.ts";
import { startLoadClient } from "./load.ts";
import { cpuSecondsOf, describeMachine } from "./machine.ts";
import { type PgBench, preparePgBench } from "./pgbench.ts";
import { openBenchDatabase, query } from "./postgres.ts";
import { run, settle } from "./running.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";
import { count, table } from "./table.ts";

/** Payments with points over HTTP against one transaction each (README.md#spends). */
const { values: options } = parseArgs({
  options: {
    cards: { type: "string", default: "10000" },
    clients: { type: "string", default: "128" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "4" },
  },
});
const CARDS = Number(options.cards);
const CLIENTS = Number(options.clients);
const ROUNDS = Number(options.rounds);
const SECONDS = Number(options.seconds);
// In the checkout and not in the system's temporary folder, which may be in memory.
const FOLDER = path.join(import.meta.dirname, "../..", `.scrip-spends-${process.pid}`);

const NAME = "CARD";
/** More than any run spends. */
const POINTS = 1_000_000_000;

type Round = {
  readonly plain: number;
  readonly spends: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Per spend. */
  readonly nodeMicros: number;
  readonly postgresMicros: number;
};

async function main(): Promise<void> {
  console.log(describeMachine());
  await mkdir(FOLDER);
  try {
    await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
    const pgBench = await preparePlainSpends(await postgres.create("plain"));
    const databaseUrl = await postgres.create("spends");
    const dataDir = path.join(FOLDER, "standalone");
    await using standalone = await startStandalone({ databaseUrl, dataDir });
    using client = startLoadClient();
    const spend = await createCards(standalone, databaseUrl);
    const log = (line: string): void => console.log(line);
    let acknowledged = 0;

    const measure = async (codes: readonly string[]): Promise<Round> => {
      await settle({ postgres, standalone, log });
      const load = { clients: CLIENTS, codes: codes.length, seconds: SECONDS };
      const plain = await pgBench.measure({ ...load, script: "spend" });
      await settle({ postgres, standalone, log });
      const before = { node: cpuSecondsOf(standalone.pid), postgres: postgres.cpuSeconds() };
      const result = await run(
        { client },
        { ...spend, codes, connections: CLIENTS, seconds: SECONDS, ratePerSecond: null },
      );
      // What follows a spend, such as its ledger entry, counts for it.
      await settle({ postgres, standalone, log });
      const spends = result.statuses["200"] ?? 0;
      acknowledged += spends;
      return {
        plain,
        spends: result.successesPerSecond,
        p50Ms: result.p50Ms,
        p99Ms: result.p99Ms,
        nodeMicros: (1e6 * (cpuSecondsOf(standalone.pid) - before.node)) / spends,
        postgresMicros: (1e6 * (postgres.cpuSeconds() - before.postgres)) / spends,
      };
    };

    const many = Array.from({ length: CARDS }, (_, index) => copyOf(NAME, index + 1));
    const rows: string[][] = [];
    for (const codes of [[NAME], many]) {
      const rounds: Round[] = [];
      // The first round warms up and is not counted.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const measured = await measure(codes);
        if (round > 0) rounds.push(measured);
      }
      rows.push(rowOf(codes.length, rounds));
      console.log(rows.at(-1)?.join(" · "));
    }
    await checkPoints(databaseUrl, acknowledged);
    process.stdout.write(table(COLUMNS, rows));
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

const COLUMNS = [
  "cards",
  "plain transactions per s",
  "spends per s",
  "ratio",
  "p50 ms",
  "p99 ms",
  "Node µs",
  "PostgreSQL µs",
  "load of the machine",
];

function rowOf(cards: number, rounds: readonly Round[]): string[] {
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  return [
    count(cards),
    count(of(({ plain }) => plain)),
    count(of(({ spends }) => spends)),
    of(({ spends, plain }) => spends / plain).toFixed(2),
    of(({ p50Ms }) => p50Ms).toFixed(1),
    of(({ p99Ms }) => p99Ms).toFixed(1),
    count(of(({ nodeMicros }) => nodeMicros)),
    count(of(({ postgresMicros }) => postgresMicros)),
    loadavg()[0]?.toFixed(1) ?? "",
  ];
}

/** Side A, on the tables of the services' migrations. */
async function preparePlainSpends(url: string): Promise<PgBench> {
  const pgBench = await preparePgBench(url, CARDS);
  await query(
    url,
    `insert into loyalty.loyalty_card (project_id, id, points, balance, opened_at)
     select project_id, voucher_id, ${POINTS}, ${POINTS}, now() from voucher.voucher_usage`,
  );
  await query(url, "vacuum analyze loyalty.loyalty_card");
  return pgBench;
}

/** A hot card and its copies; returns the request that pays with a point of a card. */
async function createCards(
  standalone: Standalone,
  databaseUrl: string,
): Promise<ReturnType<Api["request"]>> {
  const api = await openApi(standalone);
  const campaign = await api.create("/v1/campaigns", {
    name: "spends",
    campaign_type: "LOYALTY_PROGRAM",
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: POINTS } },
  });
  const coin = { exchange_ratio: 0.01, points_ratio: 1 };
  const reward = await api.create("/v1/rewards", {
    name: "Pay with points",
    type: "COIN",
    parameters: { coin },
  });
  await api.create(`/v1/rewards/${reward}/assignments`, { campaign });
  await api.create(`/v1/campaigns/${campaign}/vouchers/${NAME}`, {});
  await api.create("/v1/publications", { voucher: NAME, customer: { source_id: "spender" } });
  await copyVoucher(databaseUrl, { name: NAME, prefix: "0", copies: CARDS });
  const body = { reward: { id: reward, points: 1 }, order: { amount: 10_000 } };
  return api.request(
    { before: "/v1/vouchers/", after: "/redemption" },
    JSON.stringify({ ...body, customer: { source_id: "spender" } }),
  );
}

/** Each acknowledged spend took one point, once. */
async function checkPoints(databaseUrl: string, acknowledged: number): Promise<void> {
  const [row] = await query<{ entries: string; spent: string }>(
    databaseUrl,
    `select (select count(*) from loyalty.ledger_entry where type = 'POINTS_REDEMPTION') as entries,
            (select sum(redeemed_points) from loyalty.loyalty_card) as spent`,
  );
  if (Number(row?.entries) !== acknowledged || Number(row?.spent) !== acknowledged)
    throw new Error(
      `${acknowledged} spends were acknowledged, the ledger has ${JSON.stringify(row)}`,
    );
}

await main();
