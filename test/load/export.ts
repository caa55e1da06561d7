import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";

import { type Api, openApi } from "./api.ts";
import { copyVoucher, createVoucher } from "./fixtures.ts";
import { openBenchDatabase } from "./postgres.ts";
import { type Standalone, startStandalone } from "./standalone.ts";

/**
 * Compares an export of vouchers with a bare COPY of the same rows on the same server, and measures its memory:
 * node scripts/run.mjs node test/load/export.ts [rows]
 */
const ROWS = Number(process.argv[2] ?? 5_000_000);
const ROUNDS = 3;
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
  const databaseUrl = await database.create("exports");
  const options = { databaseUrl, dataDir: path.join(folder, "scrip") };
  let scrip = await startStandalone(options);
  await using running = { [Symbol.asyncDispose]: () => scrip[Symbol.asyncDispose]() };
  const api = await openApi(scrip);
  await createVoucher(api, NAME, []);
  console.log(`copying a voucher ${ROWS} times`);
  await copyVoucher(databaseUrl, { name: NAME, prefix: "0", copies: ROWS - 1 });
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("vacuum analyze voucher.voucher, voucher.voucher_usage");
  const idle = await residentMib(scrip);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await timeCopy(client);
    const exported = await timeExport(scrip, { api, client });
    console.log(
      `round ${round}: COPY ${bare.seconds.toFixed(1)} s, ${bare.mib.toFixed(0)} MiB; export ` +
        `${exported.seconds.toFixed(1)} s, ${exported.rows} rows; ratio ` +
        `${(bare.seconds / exported.seconds).toFixed(2)}; memory ${idle.toFixed(0)} → ${exported.peak.toFixed(0)} MiB`,
    );
  }
  const killed = await startExport(api);
  await reach(client, killed, ({ in_slice: rows }) => Number(rows) > ROWS / 3);
  process.kill(scrip.pid, "SIGKILL");
  const killedAt = performance.now();
  await running[Symbol.asyncDispose]();
  scrip = await startStandalone(options);
  const { processed } = await reach(client, killed, ({ status }) => status === "DONE");
  const seconds = (performance.now() - killedAt) / 1_000;
  const { size, lines } = await fileOf(client, killed);
  console.log(
    `killed half-way: done ${seconds.toFixed(1)} s later, ${processed} rows, ${lines - 1} in the file of ${size} bytes`,
  );
  await client.end();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function timeCopy(
  client: Client,
): Promise<{ readonly seconds: number; readonly mib: number }> {
  const startedAt = performance.now();
  let bytes = 0;
  for await (const chunk of client.query(copyTo(BARE))) bytes += (chunk as Buffer).length;
  return { seconds: (performance.now() - startedAt) / 1_000, mib: bytes / 2 ** 20 };
}

/** From the request to the first poll that sees the file. */
async function timeExport(
  scrip: Standalone,
  { api, client }: { readonly api: Api; readonly client: Client },
) {
  const startedAt = performance.now();
  const id = await startExport(api);
  let peak = 0;
  const { processed: rows } = await reach(client, id, async ({ status }) => {
    peak = Math.max(peak, await residentMib(scrip));
    return status === "DONE";
  });
  return { seconds: (performance.now() - startedAt) / 1_000, rows, peak };
}

function startExport(api: Api): Promise<string> {
  return api.create("/v1/exports", { exported_object: "voucher", parameters: { fields: FIELDS } });
}

type Job = { readonly status: string; readonly processed: string; readonly in_slice: string };

async function reach(
  client: Client,
  id: string,
  isReached: (job: Job) => boolean | Promise<boolean>,
): Promise<Job> {
  for (;;) {
    const { rows } = await client.query<Job>(
      "select status, processed, in_slice from export.job where id = $1",
      [id],
    );
    const [job] = rows;
    if (job === undefined || job.status === "FAILED") throw new Error("the export failed");
    if (await isReached(job)) return job;
    await sleep(50);
  }
}

async function fileOf(client: Client, id: string) {
  const { rows } = await client.query<{ file_key: string; file_size: string }>(
    "select file_key, file_size from export.export where id = $1",
    [id],
  );
  const file = path.join(folder, "scrip/exports", rows[0]?.file_key ?? "");
  let lines = 0;
  for await (const chunk of createReadStream(file)) {
    for (const byte of chunk as Buffer) if (byte === 0x0a) lines += 1;
  }
  return { size: rows[0]?.file_size, lines };
}

async function residentMib({ pid }: Standalone): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
