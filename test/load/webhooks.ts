import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { type Api, managementApi, newProject } from "../stack/api.ts";
import { startComposition } from "../stack/compositions.ts";
import { ok } from "../stack/rule-builders.ts";
import { uploadTo } from "../stack/uploads.ts";
import { openBenchDatabase } from "./postgres.ts";

/** Imports vouchers with webhooks, and measures how late those of vouchers arrive that are created meanwhile (README.md#webhooks). */
const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "20000" },
    /** Milliseconds after which the receiver responds. */
    "response-ms": { type: "string", default: "20" },
    /** Milliseconds between two vouchers that are created meanwhile. */
    "every-ms": { type: "string", default: "500" },
  },
});
const ROWS = Number(options.rows);
const SINGLE = "SINGLE-";

const arrivals = new Map<string, number>();
const receiver = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => (body += text));
  request.on("end", () => {
    const { code } = (JSON.parse(body) as { data: { voucher: { code: string } } }).data.voucher;
    if (!arrivals.has(code)) arrivals.set(code, performance.now());
    setTimeout(() => response.end(), Number(options["response-ms"]));
  });
}).listen(0, "127.0.0.1");
await once(receiver, "listening");

const folder = await mkdtemp(path.join(tmpdir(), "scrip-webhooks-bench-"));
try {
  await using database = await openBenchDatabase(path.join(folder, "postgres"));
  const url = await database.create("webhooks");
  await using stack = await startComposition("standalone", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
    env: {
      SCRIP_LOG_LEVEL: "warn",
      SCRIP_WEBHOOK_ALLOW_HTTP: "true",
      SCRIP_WEBHOOK_ALLOW_PRIVATE: "true",
    },
  });
  const { id: projectId, api } = await newProject(stack);
  await ok(
    managementApi(stack).post(`/management/v1/projects/${projectId}/webhooks`, {
      target_url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      events: ["voucher.created"],
    }),
  );
  report("without an import", await createSingles(api, "before", async () => arrivals.size < 10));
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1);
  const rows = Array.from({ length: ROWS }, (_, row) => `IMPORTED-${row},GIFT_VOUCHER,10.00\n`);
  const { body } = await uploadTo({ url: stack.url, api }, "/v1/vouchers/importCSV", {
    csv: `Code,Voucher Type,Value\n${rows.join("")}`,
    headers: {},
    webhooks: true,
  });
  let isImported = false;
  const late = await createSingles(api, "during", async () => {
    if (!isImported) {
      const { status } = await ok(api.get(`/v1/async-actions/${body["async_action_id"]}`));
      isImported = status === "DONE";
      if (isImported) console.log(`imported ${ROWS} rows after ${seconds()} s`);
    }
    const imported = [...arrivals.keys()].filter((code) => code.startsWith("IMPORTED-")).length;
    return !isImported || imported < ROWS;
  });
  console.log(`delivered all after ${seconds()} s`);
  report("during and after the import", late);
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await rm(folder, { recursive: true, force: true });
}

/** Creates vouchers as long as `goesOn`, and returns how many milliseconds after its creation each one arrived. */
async function createSingles(
  api: Api,
  name: string,
  goesOn: () => Promise<boolean>,
): Promise<readonly number[]> {
  const created = new Map<string, number>();
  while (await goesOn()) {
    const code = `${SINGLE}${name}-${created.size}`;
    await ok(api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 100 } }));
    created.set(code, performance.now());
    await sleep(Number(options["every-ms"]));
  }
  while ([...created.keys()].some((code) => !arrivals.has(code))) await sleep(50);
  return [...created].map(([code, at]) => Math.max(0, (arrivals.get(code) ?? at) - at));
}

function report(what: string, late: readonly number[]): void {
  const sorted = late.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`;
  console.log(
    `${what}: ${sorted.length} vouchers of requests arrived p50 ${at(0.5)}, p90 ${at(0.9)}, at most ${at(1)} late`,
  );
}
