import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { type Api, serverApi } from "../stack/api.ts";
import { type Stack, startComposition } from "../stack/compositions.ts";
import { ok } from "../stack/rule-builders.ts";
import { memoryOf, memoryText, peaks } from "./memory.ts";
import { openBenchDatabase } from "./postgres.ts";

/** Imports customers from a large CSV file, and measures rates and the memory of each process (README.md#imports). */
const { values: options } = parseArgs({
  options: {
    mib: { type: "string", default: "1024" },
    /** Size of a row. */
    "row-bytes": { type: "string", default: "2048" },
    distributed: { type: "boolean", default: false },
  },
});
const ROW_BYTES = Number(options["row-bytes"]);
const ROWS = Math.floor((Number(options.mib) * 2 ** 20) / ROW_BYTES);
const ROWS_PER_CHUNK = 256;
const HEADER = "Source_id,Name,Email,notes\n";
const POLL_MS = 250;

const folder = await mkdtemp(path.join(tmpdir(), "scrip-import-bench-"));
try {
  await using database = await openBenchDatabase(path.join(folder, "postgres"));
  const url = await database.create("imports");
  await using stack = await startComposition(options.distributed ? "distributed" : "standalone", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
    env: { SCRIP_LOG_LEVEL: "warn" },
  });
  const api = await serverApi(stack);
  const before = memoryOf(stack);
  const uploading = peaks(stack);
  const startedAt = performance.now();
  const id = await upload(stack, api);
  const uploaded = (performance.now() - startedAt) / 1_000;
  report("uploaded", uploaded, before, uploading.stop());
  const importing = peaks(stack);
  const action = await ended(api, id);
  const imported = (performance.now() - startedAt) / 1_000 - uploaded;
  report(
    `imported ${action["result"].done_count} of ${ROWS} rows`,
    imported,
    before,
    importing.stop(),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Sends the file while it is generated, and returns the id of the async action. */
async function upload(stack: Stack, api: Api): Promise<string> {
  const boundary = "scrip-load";
  const response = await fetch(`${stack.url}/v1/customers/importCSV`, {
    method: "POST",
    headers: { ...api.headers, "content-type": `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(form(boundary)),
    duplex: "half",
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the import was rejected: ${text}`);
  return (JSON.parse(text) as { readonly async_action_id: string }).async_action_id;
}

function* form(boundary: string): Iterable<Uint8Array> {
  yield Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="customers.csv"\r\n\r\n${HEADER}`,
  );
  for (let row = 0; row < ROWS; row += ROWS_PER_CHUNK) {
    const lines = Array.from({ length: Math.min(ROWS_PER_CHUNK, ROWS - row) }, (_, at) =>
      `c-${row + at},Customer ${row + at},c${row + at}@example.com,`.padEnd(
        ROW_BYTES - 1,
        "notes ",
      ),
    );
    yield Buffer.from(`${lines.join("\n")}\n`);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

async function ended(api: Api, id: string) {
  for (;;) {
    const action = await ok(api.get(`/v1/async-actions/${id}`));
    if (action["status"] === "FAILED") throw new Error(JSON.stringify(action["result"]));
    if (action["status"] === "DONE") return action;
    await sleep(POLL_MS);
  }
}

function report(
  what: string,
  seconds: number,
  before: ReadonlyMap<string, number>,
  peak: ReadonlyMap<string, number>,
): void {
  console.log(
    `${what} in ${seconds.toFixed(0)} s: ${(ROWS / seconds).toFixed(0)} rows/s, ` +
      `${(Number(options.mib) / seconds).toFixed(1)} MiB/s; MiB before and at most: ${memoryText(before, peak)}`,
  );
}
