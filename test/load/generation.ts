import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";

import { type Api, openApi } from "./api.ts";
import { copyOf, copyVoucher, createVoucher } from "./fixtures.ts";
import type { LoadResult, LoadSpec } from "./load-client.ts";
import { type LoadClient, startLoadClient } from "./load.ts";
import { cpuSecondsOf, residentMiB } from "./machine.ts";
import { openBenchDatabase } from "./postgres.ts";
import { run } from "./running.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";

/**
 * Compares the generation of a campaign's codes with a bare COPY of the same rows on the same server, and measures
 * memory, and redemptions of other codes before and meanwhile:
 * node scripts/run.mjs node test/load/generation.ts [codes]
 */
const CODES = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 2;
const OTHER = { name: "OTHER", prefix: "0" };
const OTHER_CODES = 20_000;
const WARM_UP_CODES = 20_000;
const TABLES = ["voucher", "voucher_usage"];
/** Far below what the server can do, so that the latency is that of the requests and not of a queue. */
const RATE = { connections: 20, ratePerSecond: 100 };
const RUN_SECONDS = 5;
const RUNS_BEFORE = 5;

const folder = await mkdtemp(path.join(tmpdir(), "scrip-generation-bench-"));
try {
  await using database = await openBenchDatabase(path.join(folder, "postgres"));
  const databaseUrl = await database.create("generation");
  await using scrip = await startStandalone({ databaseUrl, dataDir: path.join(folder, "scrip") });
  using load = startLoadClient();
  const api = await openApi(scrip);
  const client = new Client({ connectionString: databaseUrl });
  // The server ends first when the benchmark fails.
  client.on("error", () => {});
  await client.connect();
  await createVoucher(api, OTHER.name, []);
  await copyVoucher(databaseUrl, { ...OTHER, copies: OTHER_CODES });
  const redemptions: LoadSpec = {
    ...api.request({ before: "/v1/vouchers/", after: "/redemption" }, "{}"),
    ...RATE,
    seconds: RUN_SECONDS,
    codes: Array.from({ length: OTHER_CODES }, (_, index) => copyOf(OTHER.name, index + 1)),
  };
  await run({ client: load }, redemptions);
  await generate(scrip, { api, client, codes: WARM_UP_CODES });

  for (let round = 1; round <= ROUNDS; round += 1) {
    // A checkpoint that begins during one of them writes the pages of both.
    await client.query("checkpoint");
    const idle = residentMiB(scrip.pid);
    const processors = () => [database.cpuSeconds(), cpuSecondsOf(scrip.pid)] as const;
    const start = processors();
    const alone = await generate(scrip, { api, client, codes: CODES });
    const generated = processors();
    const copied = await copy(client, {
      campaignId: alone.campaignId,
      cpu: () => database.cpuSeconds(),
    });
    const [ofPostgres, ofNode] = [generated[0] - start[0], generated[1] - start[1]];
    console.log(
      `round ${round}: ${CODES} codes in ${alone.seconds.toFixed(1)} s, COPY of ${copied.rows} rows ` +
        `${copied.seconds.toFixed(1)} s; ratio ${(alone.seconds / copied.seconds).toFixed(2)}; ` +
        `memory ${idle.toFixed(0)} → ${alone.peak.toFixed(0)} MiB`,
    );
    console.log(
      `round ${round}: processor time of Postgres ${ofPostgres.toFixed(1)} s and of Node ${ofNode.toFixed(1)} s, ` +
        `of the COPY ${copied.cpu.toFixed(1)} s; ratio ${((ofPostgres + ofNode) / copied.cpu).toFixed(2)}`,
    );
    const before: LoadResult[] = [];
    while (before.length < RUNS_BEFORE) before.push(await run({ client: load }, redemptions));
    const normal = typical(before);
    const [loaded, meanwhile] = await redeemDuring(load, redemptions, () =>
      generate(scrip, { api, client, codes: CODES }),
    );
    console.log(
      `round ${round}: redemptions of other codes p50 ${normal.p50Ms.toFixed(1)} ms, p99 ${normal.p99Ms.toFixed(1)} ms; ` +
        `during a generation of ${loaded.seconds.toFixed(1)} s p50 ${meanwhile.p50Ms.toFixed(1)} ms, ` +
        `p99 ${meanwhile.p99Ms.toFixed(1)} ms; ratio of p99 ${(meanwhile.p99Ms / normal.p99Ms).toFixed(2)}`,
    );
  }
  await client.end();
} finally {
  await rm(folder, { recursive: true, force: true });
}

type Generation = { readonly campaignId: string; readonly seconds: number; readonly peak: number };

/** From the request to the first poll that sees all codes; `peak` is memory in MiB. */
async function generate(
  scrip: Standalone,
  { api, client, codes }: { readonly api: Api; readonly client: Client; readonly codes: number },
): Promise<Generation> {
  const startedAt = performance.now();
  const campaignId = await api.create("/v1/campaigns", {
    name: `Generated ${startedAt}`,
    vouchers_count: codes,
    voucher: {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
      redemption: { quantity: 1 },
      code_config: { length: 12 },
    },
  });
  let peak = 0;
  for (;;) {
    peak = Math.max(peak, residentMiB(scrip.pid));
    const { rows } = await client.query<{ status: string; vouchers_count: string }>(
      "select vouchers_generation_status as status, vouchers_count from campaign.campaign where id = $1",
      [campaignId],
    );
    const [campaign] = rows;
    if (campaign === undefined || campaign.status === "FAILED") throw new Error("it failed");
    if (campaign.status === "DONE") {
      if (Number(campaign.vouchers_count) !== codes) throw new Error("codes are missing");
      return { campaignId, seconds: (performance.now() - startedAt) / 1_000, peak };
    }
    await sleep(50);
  }
}

/** Repeats the load until the work has ended. */
async function redeemDuring<Result>(
  client: LoadClient,
  spec: LoadSpec,
  work: () => Promise<Result>,
): Promise<readonly [Result, Latencies]> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  const results: LoadResult[] = [];
  while (!isDone) results.push(await run({ client }, spec));
  // The last run was in part without the work.
  return [await working, typical(results.slice(0, Math.max(1, results.length - 1)))];
}

type Latencies = Pick<LoadResult, "p50Ms" | "p99Ms">;

/** The medians of several runs: other programs on the machine disturb single ones. */
function typical(results: readonly LoadResult[]): Latencies {
  return {
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  };
}

/** Copies the rows of a campaign into tables with the same columns, constraints and indexes. */
async function copy(
  client: Client,
  { campaignId, cpu }: { readonly campaignId: string; readonly cpu: () => number },
) {
  const files = TABLES.map((table) => path.join(folder, `${table}.copy`));
  const queries = [
    "select * from campaign_voucher",
    "select u.* from voucher.voucher_usage u join campaign_voucher v on v.id = u.voucher_id",
  ];
  await client.query(
    `create temp table campaign_voucher as select * from voucher.voucher where campaign_id = '${campaignId}'`,
  );
  for (const [index, table] of TABLES.entries()) {
    const rows = client.query(copyTo(`copy (${queries[index]}) to stdout`));
    await pipeline(rows, createWriteStream(files[index] ?? ""));
    await client.query(
      `create table bare_${table} (like voucher.${table} including all excluding storage)`,
    );
  }
  await client.query("checkpoint");
  const startedAt = performance.now();
  const cpuBefore = cpu();
  let rows = 0;
  for (const [index, table] of TABLES.entries()) {
    const into = client.query(copyFrom(`copy bare_${table} from stdin`));
    await pipeline(createReadStream(files[index] ?? ""), into);
    rows += into.rowCount ?? 0;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = cpu() - cpuBefore;
  for (const table of TABLES) await client.query(`drop table bare_${table}`);
  await client.query("drop table campaign_voucher");
  return { seconds, rows, cpu: used };
}
