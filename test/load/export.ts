import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";

import { serverApi } from "../stack/api.ts";
import { type Stack, startComposition } from "../stack/compositions.ts";
import { ok } from "../stack/rule-builders.ts";
import { copyVoucher } from "./fixtures.ts";
import { memoryOf, memoryText, peaks } from "./memory.ts";
import { openBenchDatabase } from "./postgres.ts";

/**
 * Compares an export of vouchers with a bare COPY of the same rows on the same server, and measures the memory of each
 * process (README.md#exports).
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "5000000" },
    rounds: { type: "string", default: "3" },
    /** Number of times that the process is killed while it writes the last export. */
    kills: { type: "string", default: "10" },
    distributed: { type: "boolean", default: false },
    /** Exports loyalty cards whose points have changed, which loyalty knows, instead of discount vouchers. */
    cards: { type: "boolean", default: false },
    /** Further arguments of Node for each process. */
    "node-args": { type: "string", default: "" },
  },
});
const ROWS = Number(options.rows);
const KILLS = Number(options.kills);
const NAME = "EXPORTED";
const FIELDS = ["code", "voucher_type", "value", "discount_type", "redemption_count", "created_at"];

/** The same columns as they are. */
const BARE = `copy (
  select v.code, v.type, v.discount ->> 'percent_off', v.discount ->> 'type', u.redeemed_quantity, v.created_at
    from voucher.voucher v
    join voucher.voucher_usage u on u.project_id = v.project_id and u.voucher_id = v.id
   order by v.created_at desc, v.id desc) to stdout (format csv)`;

const folder = await mkdtemp(path.join(tmpdir(), "scrip-export-bench-"));
try {
  await using database = await openBenchDatabase(path.join(folder, "postgres"));
  const url = await database.create("exports");
  await using stack = await startComposition(options.distributed ? "distributed" : "standalone", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
    nodeArgs: options["node-args"].split(" ").filter(Boolean),
  });
  const api = await serverApi(stack);
  const voucher = options.cards
    ? { type: "LOYALTY_CARD", loyalty_card: { points: 10 } }
    : { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } };
  await ok(api.post("/v1/vouchers", { code: NAME, ...voucher }));
  const startExport = async (): Promise<string> => {
    const parameters = { fields: FIELDS };
    return (await ok(api.post("/v1/exports", { exported_object: "voucher", parameters })))["id"];
  };
  console.log(`copying a voucher ${ROWS} times`);
  await copyVoucher(url, { name: NAME, prefix: "0", copies: ROWS - 1 });
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query("vacuum analyze voucher.voucher, voucher.voucher_usage");
  if (options.cards) await changeCards(client);
  const idle = memoryOf(stack);
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    const bare = await timeCopy(client);
    const startedAt = performance.now();
    const memory = peaks(stack);
    const { processed } = await reach(
      client,
      await startExport(),
      ({ status }) => status === "DONE",
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(
      `round ${round}: COPY ${bare.seconds.toFixed(1)} s, ${bare.mib.toFixed(0)} MiB; export ${seconds.toFixed(1)} s, ` +
        `${processed} rows; ratio ${(bare.seconds / seconds).toFixed(2)}; MiB before and at most: ` +
        memoryText(idle, memory.stop()),
    );
  }
  if (KILLS > 0) await killWhileWriting(stack, client, await startExport());
  await client.end();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** As if points had been added to each card. */
async function changeCards(client: Client): Promise<void> {
  await client.query(
    `insert into loyalty.loyalty_card (project_id, id, points, redeemed_points, balance, opened_at)
     select project_id, id, 42, 2, 40, now() from voucher.voucher`,
  );
  await client.query("vacuum analyze loyalty.loyalty_card");
}

/** Kills the process that writes, each time after another random number of rows, and inspects the file at the end. */
async function killWhileWriting(stack: Stack, client: Client, id: string): Promise<void> {
  const before = await fileNames(stack);
  const points: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const point = Math.random();
    const { run: last = "0" } = (await jobOf(client, id)) ?? {};
    const isDue = (job: Job): boolean =>
      (kill === 0 || Number(job.run) > Number(last)) && Number(job.in_slice) >= point * ROWS * 0.85;
    const job = await reach(client, id, (at) => at.status === "DONE" || isDue(at));
    if (job.status === "DONE") throw new Error("the export was written before it was killed");
    points.push(Math.round((100 * Number(job.in_slice)) / ROWS));
    await stack.crash(options.distributed ? "export" : undefined);
  }
  const killedAt = performance.now();
  const { processed } = await reach(client, id, ({ status }) => status === "DONE");
  const after = await fileNames(stack);
  const files = after.filter((name) => name.endsWith(".csv") && !before.includes(name));
  const [file = ""] = files;
  const { lines, distinct } = await rowsOf(path.join(path.dirname(stack.log), "exports", file));
  console.log(
    `killed ${KILLS} times, at ${points.join(", ")} % of the rows: done ${((performance.now() - killedAt) / 1_000).toFixed(1)} s ` +
      `after the last start, ${processed} rows; ${files.length} file with ${lines - 1} rows, ${distinct} different codes`,
  );
}

/** None before the first export. */
function fileNames(stack: Stack): Promise<readonly string[]> {
  const exports = path.join(path.dirname(stack.log), "exports");
  return readdir(exports, { recursive: true }).catch(() => []);
}

async function rowsOf(
  file: string,
): Promise<{ readonly lines: number; readonly distinct: number }> {
  // The codes end with consecutive numbers.
  const seen = new Uint8Array(ROWS + 1);
  let lines = 0;
  let rest = "";
  for await (const chunk of createReadStream(file, "utf8")) {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    lines += parts.length;
    for (const line of parts) {
      const number = /^EXPORTED(?:-(\d+))?,/.exec(line);
      if (number !== null) seen[Number(number[1] ?? 0)] = 1;
    }
  }
  return { lines, distinct: seen.reduce((sum, one) => sum + one, 0) };
}

async function timeCopy(
  client: Client,
): Promise<{ readonly seconds: number; readonly mib: number }> {
  const startedAt = performance.now();
  let bytes = 0;
  for await (const chunk of client.query(copyTo(BARE))) bytes += (chunk as Buffer).length;
  return { seconds: (performance.now() - startedAt) / 1_000, mib: bytes / 2 ** 20 };
}

type Job = {
  readonly status: string;
  readonly processed: string;
  readonly in_slice: string;
  readonly run: string;
};

async function jobOf(client: Client, id: string): Promise<Job | undefined> {
  const { rows } = await client.query<Job>(
    "select status, processed, in_slice, run from export.job where id = $1",
    [id],
  );
  return rows[0];
}

async function reach(client: Client, id: string, isReached: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const job = await jobOf(client, id);
    if (job === undefined || job.status === "FAILED") throw new Error("the export failed");
    if (isReached(job)) return job;
    await sleep(50);
  }
}
