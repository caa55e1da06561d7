/**
 * Measures what a redemption leaves on disk and writes to the WAL, per table and index, and what it costs:
 *
 *     node scripts/run.mjs node test/load/storage.ts [redemptions of each kind, default 20000]
 *
 * Kinds, in a database of their own each: `plain` redeems a code with an empty request, `shop` redeems with a
 * customer, an order of three lines, a rule and an `Idempotency-Key`, and `failed` sends the order of `shop` for a
 * disabled code. The reported bytes of explanations are part of those of redemptions. Sizes are read after a vacuum, before and after
 * the redemptions, so they include the share of free space that the tables keep. Outboxes are listed and counted
 * separately: their rows are dropped after hours. WAL records count for the first relation that they change; images of
 * whole pages, which follow a checkpoint, are left out.
 */
import { mkdir, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type Api, openApi } from "./api.ts";
import { copyOf, copyVoucher, createRule, createVoucher } from "./fixtures.ts";
import { cpuSecondsOf } from "./machine.ts";
import { type BenchDatabase, openBenchDatabase, query } from "./postgres.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { count, table } from "./table.ts";

const FOLDER = path.join(import.meta.dirname, "../..", `.scrip-storage-${process.pid}`);
const KINDS = ["plain", "shop", "failed"] as const;
type Kind = (typeof KINDS)[number];

const COPIES = 5_000;
const CUSTOMERS = 1_000;
const WARM_UP = 2_000;
/** Fewer than the limits of concurrent requests, also on a busy machine. */
const CONNECTIONS = 24;
const DELIVERED_MS = 60_000;

type Sizes = ReadonlyMap<string, number>;

type Measured = {
  readonly bytes: Sizes;
  readonly wal: Sizes;
  readonly walBytes: number;
  readonly perSecond: number;
  readonly explanationBytes: number;
  readonly cpuMicros: { readonly node: number; readonly postgres: number };
};

type Context = {
  readonly kind: Kind;
  readonly databaseUrl: string;
  readonly postgres: BenchDatabase;
  readonly standalone: Standalone;
};

async function main(): Promise<void> {
  const redemptions = Number(process.argv[2] ?? 20_000);
  await mkdir(FOLDER);
  try {
    await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
    for (const kind of KINDS) {
      process.stdout.write(`\n## ${kind}\n\n${report(await measure(postgres, kind, redemptions))}`);
    }
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

async function measure(
  postgres: BenchDatabase,
  kind: Kind,
  redemptions: number,
): Promise<Measured> {
  const databaseUrl = await postgres.create(`storage_${kind}`);
  const dataDir = path.join(FOLDER, kind);
  await using standalone = await startStandalone({ databaseUrl, dataDir });
  const context = { kind, databaseUrl, postgres, standalone };
  await query(databaseUrl, "create extension if not exists pg_walinspect");
  // A checkpoint must not remove what is read at the end.
  await query(databaseUrl, "alter system set wal_keep_size = '8GB'");
  await query(databaseUrl, "select pg_reload_conf()");
  const api = await openApi(standalone);
  const rules = kind === "shop" ? [await ruleOfShops(api)] : [];
  await createVoucher(api, "STORED", rules);
  if (kind === "failed") await query(databaseUrl, "update voucher.voucher set active = false");
  await copyVoucher(databaseUrl, { name: "STORED", prefix: "0", copies: COPIES });
  // Customers and orders of the warm-up exist afterwards, and vouchers have their room for updates.
  await redeem(context, api, { from: 0, to: WARM_UP });
  const before = await readSizes(databaseUrl);
  const walBefore = await walPosition(databaseUrl);
  const nodeBefore = cpuSecondsOf(standalone.pid);
  const postgresBefore = postgres.cpuSeconds();
  const start = performance.now();
  await redeem(context, api, { from: WARM_UP, to: WARM_UP + redemptions });
  const seconds = (performance.now() - start) / 1000;
  await untilDelivered(databaseUrl);
  const cpuMicros = {
    node: ((cpuSecondsOf(standalone.pid) - nodeBefore) / redemptions) * 1e6,
    postgres: ((postgres.cpuSeconds() - postgresBefore) / redemptions) * 1e6,
  };
  const walAfter = await walPosition(databaseUrl);
  const wal = await readWal(databaseUrl, { from: walBefore, to: walAfter });
  const after = await readSizes(databaseUrl);
  const perRedemption = (sizes: Sizes, earlier: Sizes = new Map()): Sizes =>
    new Map(
      [...sizes].map(([name, size]) => [name, (size - (earlier.get(name) ?? 0)) / redemptions]),
    );
  return {
    bytes: perRedemption(after, before),
    wal: perRedemption(wal),
    walBytes: (walAfter - walBefore) / redemptions,
    explanationBytes: await explanationBytes(databaseUrl),
    perSecond: redemptions / seconds,
    cpuMicros,
  };
}

const ruleOfShops = (api: Api): Promise<string> =>
  createRule(api, "order.amount", { $more_than_or_equal: [1_000] });

/** Sends the requests number `from` to `to` over a few connections. */
async function redeem(
  { kind, standalone }: Context,
  api: Api,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const headers = headersOf(api);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = from;
  const sendSome = async (): Promise<void> => {
    while (next < to) {
      const number = next;
      next += 1;
      const { customer, ...rest } = bodyOfShops(number);
      const body = { plain: {}, failed: rest, shop: { customer, ...rest } }[kind];
      const key = { "Idempotency-Key": `checkout-${"0".repeat(8)}-${String(number)}` };
      await post({
        agent,
        port: standalone.port,
        path: `/v1/vouchers/${copyOf("STORED", 1 + (number % COPIES))}/redemption`,
        headers: { ...headers, ...(kind === "shop" && key) },
        body: JSON.stringify(body),
        expected: kind === "failed" ? 400 : 200,
      });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendSome));
  agent.destroy();
}

const bodyOfShops = (number: number) => ({
  customer: {
    source_id: `customer-${String(number % CUSTOMERS).padStart(4, "0")}`,
    name: "Ada Lovelace",
    email: `ada.${number % CUSTOMERS}@example.com`,
  },
  order: {
    source_id: `order-${number}`,
    status: "PAID",
    items: [1, 2, 3].map((line) => ({
      source_id: `sku-${(number + line) % 50}`,
      related_object: "sku",
      quantity: line,
      price: 1_000 * line,
      product: { name: `Product ${line}` },
    })),
  },
  metadata: { channel: "web", checkout: number },
});

type Post = {
  readonly agent: Agent;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expected: number;
};

const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);
const RETRY_MS = 500;

/** Repeats a request that an overloaded machine has rejected. */
async function post(one: Post): Promise<void> {
  for (;;) {
    const { status, text } = await send(one);
    if (status === one.expected) return;
    if (!OVERLOADED.has(status)) throw new Error(`${status}: ${text}`);
    await sleep(RETRY_MS);
  }
}

type Response = { readonly status: number; readonly text: string };

const send = ({ body, headers, ...options }: Post): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = request({
      ...options,
      host: "127.0.0.1",
      method: "POST",
      headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.end(body);
  });

/** The credentials, from the request that the load client would send. */
function headersOf(api: Api): Record<string, string> {
  const { after } = api.request({ before: "/", after: "" }, "");
  const lines = after
    .split("\r\n")
    .filter((line) => /^(x-|authorization|content-type)/i.test(line));
  return Object.fromEntries(lines.map((line) => line.split(": ", 2) as [string, string]));
}

/** Until all events have reached all consumers. */
async function untilDelivered(databaseUrl: string): Promise<void> {
  const deadline = Date.now() + DELIVERED_MS;
  let before = "";
  while (Date.now() < deadline) {
    await sleep(1_500);
    const now = await walPosition(databaseUrl);
    // An idle system only renews leases.
    if (before !== "" && now - Number(before) < 50_000) return;
    before = String(now);
  }
}

const explanationBytes = async (url: string): Promise<number> => {
  const [row] = await query<{ bytes: string }>(
    url,
    "select avg(pg_column_size(explanation)) as bytes from voucher.redemption",
  );
  return Number(row?.bytes);
};

const walPosition = async (url: string): Promise<number> => {
  const [row] = await query<{ position: string }>(
    url,
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as position",
  );
  return Number(row?.position);
};

/** SQL: each relation with the one whose partition it is. */
const ROOTS = `root as (
    select oid, oid as top from pg_class where relkind in ('r', 'p', 'i', 'I') and not relispartition
     union all
    select inhrelid, top from pg_inherits join root on inhparent = root.oid
  )`;

/** Bytes of WAL records between two positions by the table (with its TOAST) or index that they change. */
async function readWal(
  url: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Sizes> {
  const rows = await query<{ name: string; bytes: string }>(
    url,
    `with recursive ${ROOTS}, record as (
       select (array_agg(relfilenode order by block_id))[1] as filenode,
              max(record_length) - sum(coalesce(block_fpi_length, 0)) as bytes
         from pg_get_wal_block_info('0/0'::pg_lsn + ${from}, '0/0'::pg_lsn + ${to}, show_data => false)
        where reldatabase = (select oid from pg_database where datname = current_database())
        group by start_lsn
     )
     select namespace.nspname || '.' || top.relname as name, sum(bytes) as bytes
       from record
       join pg_class as changed on pg_relation_filenode(changed.oid) = filenode
       left join pg_class as owner on owner.reltoastrelid = changed.oid
       join root on root.oid = coalesce(owner.oid, changed.oid)
       join pg_class as top on top.oid = root.top
       join pg_namespace as namespace on namespace.oid = top.relnamespace
      where namespace.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
      group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** Bytes of each table (with its TOAST) and each index; partitions count for their table. */
async function readSizes(url: string): Promise<Sizes> {
  await query(url, "vacuum");
  await query(url, "checkpoint");
  const rows = await query<{ name: string; bytes: string }>(
    url,
    `with recursive ${ROOTS}
     select namespace.nspname || '.' || top.relname as name,
            sum(case part.relkind when 'r' then pg_table_size(part.oid)
                                  when 'i' then pg_relation_size(part.oid) else 0 end) as bytes
       from root
       join pg_class as top on top.oid = root.top
       join pg_class as part on part.oid = root.oid
       join pg_namespace as namespace on namespace.oid = top.relnamespace
      where namespace.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
      group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** Partitions have indexes of their own. */
const isOutbox = (name: string): boolean => name.includes(".outbox");

function report({
  bytes,
  wal,
  walBytes,
  explanationBytes: explanation,
  perSecond,
  cpuMicros,
}: Measured): string {
  const walOf = (name: string): number => wal.get(name) ?? 0;
  const grown = [...bytes]
    .filter(([name, size]) => size >= 1 || walOf(name) >= 1)
    .toSorted(([, a], [, b]) => b - a);
  const total = (some: typeof grown): string =>
    count(some.reduce((sum, [, size]) => sum + size, 0));
  const outboxes = grown.filter(([name]) => isOutbox(name));
  const others = grown.filter(([name]) => !isOutbox(name));
  const totalWal = (some: typeof grown): string =>
    count(some.reduce((sum, [name]) => sum + walOf(name), 0));
  const rows = grown.map(([name, size]) => [name, count(size), count(walOf(name))]);
  return (
    `${count(perSecond)} redemptions/s; processor time of each: ${count(cpuMicros.node)} µs of Node, ` +
    `${count(cpuMicros.postgres)} µs of PostgreSQL; ${count(walBytes)} bytes of WAL, ${count(explanation)} of explanations\n\n` +
    table(
      ["relation", "bytes per redemption", "bytes of WAL"],
      [
        ...rows,
        ["outboxes, for hours", total(outboxes), totalWal(outboxes)],
        ["total of the others", total(others), totalWal(others)],
      ],
    )
  );
}

await main();
