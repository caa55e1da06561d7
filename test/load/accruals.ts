import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { enqueue, type OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { createDatabase, type Database } from "@scrip/postgres";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import { testKafka } from "@scrip/testing";
import { Client } from "pg";

import { type Api, inParallel, newCode, serverApi } from "../stack/api.ts";
import { type Stack, startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { balanceOf, type Card, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { cpuSecondsOf, describeMachine } from "./machine.ts";
import { type BenchDatabase, openBenchDatabase } from "./postgres.ts";
import { count, table } from "./table.ts";

/** From a paid order to the points on the card (README.md#accruals). */
const { values: options } = parseArgs({
  options: {
    /** `postgres`, `kafka`, or both. */
    bus: { type: "string", default: "postgres,kafka" },
    /** Events of the backlog. */
    events: { type: "string", default: "20000" },
    customers: { type: "string", default: "2000" },
    /** Of the constant rate, and of the orders over HTTP. */
    seconds: { type: "string", default: "20" },
    rate: { type: "string", default: "2000" },
    orders: { type: "string", default: "200" },
    profile: { type: "string" },
  },
});
const EVENTS = Number(options.events);
const CUSTOMERS = Number(options.customers);
const SECONDS = Number(options.seconds);
/** Cards whose balance is read over the API until it has grown. */
const PROBES = 40;
const POLL_MS = 10;
const TRANSACTION = 500;
const HTTP_CLIENTS = 48;
const TIMEOUT_MS = 300_000;

type Member = { readonly project_id: string; readonly customer_id: string };

type Bench = {
  readonly stack: Stack;
  readonly api: Api;
  readonly client: Client;
  /** As the validation service, which publishes the orders. */
  readonly orders: Database;
  readonly members: readonly Member[];
  readonly probes: readonly Card[];
  readonly postgres: BenchDatabase;
};

/** Events that were published; each earns points once. */
let nth: number;

const rows: string[][] = [];
console.log(describeMachine());
for (const bus of options.bus.split(",")) await measure(bus);
process.stdout.write(table(["events in", "measured", "value", "load of the machine"], rows));

async function measure(bus: string): Promise<void> {
  nth = 0;
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-accruals-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = parts.use(await openBenchDatabase(path.join(folder, "postgres")));
  const url = await postgres.create("accruals");
  const kafka = bus === "kafka" ? parts.use(await testKafka()) : undefined;
  const settings: Record<string, string> =
    kafka === undefined ? {} : { SCRIP_KAFKA_BROKERS: kafka.brokers };
  const profile =
    options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}-${bus}`];
  const stack = parts.use(
    await startComposition("standalone", {
      database: { url, [Symbol.asyncDispose]: async () => {} },
      env: settings,
      nodeArgs: profile,
    }),
  );
  const client = new Client({ connectionString: url });
  await client.connect();
  parts.defer(() => client.end());
  const orders = createDatabase({
    url,
    schema: "validation",
    role: "scrip_validation",
    poolSize: 2,
    onError: (error) => console.error(error.message),
  });
  parts.defer(() => orders.close());
  const bench = { stack, client, orders, postgres, ...(await openShop(stack, client)) };
  const report = (name: string, value: string): void => {
    rows.push([bus, name, value, loadavg()[0]?.toFixed(1) ?? ""]);
    console.log(rows.at(-1)?.join(" · "));
  };
  await measureBacklog(bench, report);
  await measureRate(bench, report);
  await measureLatency(bench, report);
  const violations = await invariantViolations(stack, undefined, settings);
  report("invariants", violations.length === 0 ? "hold" : violations.join("; "));
  if (violations.length > 0) process.exitCode = 1;
}

type Report = (name: string, value: string) => void;

/** How fast a backlog becomes entries of the ledger. */
async function measureBacklog(bench: Bench, report: Report): Promise<void> {
  await publish(bench, 500);
  await accrued(bench, nth);
  const before = cpu(bench);
  const startedAt = performance.now();
  await publish(bench, EVENTS);
  await accrued(bench, nth);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = cpu(bench);
  const micros = (from: number, to: number): string =>
    `${(((to - from) / EVENTS) * 1e6).toFixed(0)} µs`;
  report("accruals per second, of a backlog", count(EVENTS / seconds));
  report(
    "processor time of an accrual",
    `Scrip ${micros(before.process, used.process)}, PostgreSQL ${micros(before.postgres, used.postgres)}`,
  );
}

/** Whether the consumers keep up with a constant rate. */
async function measureRate(bench: Bench, report: Report): Promise<void> {
  const rate = Number(options.rate);
  const first = nth;
  const startedAt = performance.now();
  let sent = 0;
  let longest = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      longest = Math.max(longest, first + sent - (await countEntries(bench)));
      await sleep(100);
    }
  })();
  for (;;) {
    const elapsed = (performance.now() - startedAt) / 1_000;
    if (elapsed > SECONDS) break;
    const due = Math.min(Math.floor(elapsed * rate) - sent, TRANSACTION);
    if (due <= 0) await sleep(POLL_MS);
    else {
      await publish(bench, due);
      sent += due;
    }
  }
  const sentAt = performance.now();
  isOver = true;
  await watching;
  await accrued(bench, first + sent);
  const behindMs = performance.now() - sentAt;
  report(
    `lag at ${count(rate)} events per second`,
    `sent ${count(sent / SECONDS)} per second; at most ${count(longest)} events behind, ` +
      `the last one ${behindMs.toFixed(0)} ms after it was sent`,
  );
}

/** From the response of a paid order to the balance that a reader sees, beside orders at a constant rate. */
async function measureLatency({ api, members, probes }: Bench, report: Report): Promise<void> {
  const perSecond = Number(options.orders);
  const startedAt = performance.now();
  const endsAt = startedAt + SECONDS * 1_000;
  const statuses = new Map<number, number>();
  let sent = 0;
  const pay = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const dueAt = startedAt + (sent / perSecond) * 1_000;
      sent += 1;
      const customer = { id: members[sent % members.length]?.customer_id };
      if (dueAt > performance.now()) await sleep(dueAt - performance.now());
      const order = { source_id: newCode("order"), amount: 1_000, status: "PAID", customer };
      const { status } = await api.post("/v1/orders", order);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const latencies: number[] = [];
  const probe = async (): Promise<void> => {
    await sleep(1_000);
    for (const card of probes) {
      const nextAt = performance.now() + ((SECONDS - 2) * 1_000) / probes.length;
      const order = { source_id: newCode("probe"), amount: 1_000, status: "PAID" };
      await ok(api.post("/v1/orders", { ...order, customer: card.customer }));
      const paidAt = performance.now();
      while ((await balanceOf(api, card)) === 0) await sleep(POLL_MS);
      latencies.push(performance.now() - paidAt);
      if (nextAt > performance.now()) await sleep(nextAt - performance.now());
    }
  };
  await Promise.all([...Array.from({ length: HTTP_CLIENTS }, pay), probe()]);
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0).toFixed(0)} ms`;
  const responses = [...statuses].map(([status, times]) => `${status}: ${times}`).join(", ");
  report(
    `paid order to visible points, at ${count((statuses.get(200) ?? 0) / SECONDS)} orders per second`,
    `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} (${sorted.length} probes; ${responses})`,
  );
}

/** A program that grants points for paid orders, and its members. */
async function openShop(
  stack: Stack,
  client: Client,
): Promise<Pick<Bench, "api" | "members" | "probes">> {
  const api = await serverApi(stack);
  const program = await createLoyaltyProgram(api, { points: 0 });
  const order = { amount: { every: 100, points: 1 } };
  const rule = {
    event: "order.paid",
    loyalty: { type: "PROPORTIONAL", calculation_type: "ORDER_AMOUNT", order },
    source: {},
  };
  const rules = `/v1/loyalties/${program.campaignId}/earning-rules`;
  while ((await api.post(rules, [rule])).status !== 200) await sleep(POLL_MS);
  const probes = await inParallel([...Array(PROBES).keys()], 4, () => program.createCard());
  while ((await membersOf(client)).length < PROBES) await sleep(POLL_MS);
  // Copies of the first member: creating them over the API would take longer than everything else.
  const first = (await membersOf(client))[0]?.customer_id;
  for (const [name, key, ids] of [
    ["customer", "id", "'id', original.id || n, 'source_id', original.source_id || n"],
    [
      "loyalty_member",
      "customer_id",
      "'card_id', original.card_id || n, 'customer_id', original.customer_id || n",
    ],
  ]) {
    await client.query(
      `insert into loyalty.${name}
       select copy.*
         from loyalty.${name} as original
        cross join generate_series(1, $1::int) as n
        cross join lateral jsonb_populate_record(original, jsonb_build_object(${ids})) as copy
        where original.${key} = $2`,
      [CUSTOMERS, first],
    );
  }
  const probed = new Set(probes.map(({ id }) => id));
  const members = (await membersOf(client)).filter(({ card_id: id }) => !probed.has(id));
  await client.query("analyze");
  return { api, probes, members };
}

async function membersOf(client: Client): Promise<(Member & { readonly card_id: string })[]> {
  const { rows: members } = await client.query<Member & { readonly card_id: string }>(
    "select project_id, customer_id, card_id from loyalty.loyalty_member",
  );
  return members;
}

/** Orders that customers have paid, as the validation service publishes them. */
async function publish({ orders, members }: Bench, events: number): Promise<void> {
  for (let left = events; left > 0; left -= TRANSACTION) {
    const batch = Array.from({ length: Math.min(left, TRANSACTION) }, () => {
      nth += 1;
      return paidEvent(members[(nth * 7_919) % members.length]!, nth);
    });
    await enqueue(orders, batch, undefined);
  }
}

function paidEvent(
  { project_id: projectId, customer_id: customerId }: Member,
  at: number,
): OutboxEvent {
  const order = {
    id: newId("ord"),
    sourceId: `order-${at}`,
    customerId,
    amount: 1_000n,
    status: OrderStatus.PAID,
  };
  const message = create(OrderPaidSchema, { projectId, order, date: timestampNow() });
  return {
    projectId,
    id: newId("event"),
    topic: "scrip.orders.v1",
    key: customerId,
    type: OrderPaidSchema.typeName,
    payload: toBinary(OrderPaidSchema, message),
  };
}

/** By the cards: counting the entries would take more and more of the processor time that is measured. */
async function countEntries({ client }: Bench): Promise<number> {
  const { rows: counted } = await client.query<{ entries: number }>(
    "select coalesce(sum(ledger_version), 0)::int as entries from loyalty.loyalty_card",
  );
  return counted[0]?.entries ?? 0;
}

async function accrued(bench: Bench, entries: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while ((await countEntries(bench)) < entries) {
    if (performance.now() > deadline)
      throw new Error(`${await countEntries(bench)} of ${entries} events have earned points`);
    await sleep(50);
  }
}

/** Processor time in seconds. */
function cpu({ stack, postgres }: Bench): { readonly process: number; readonly postgres: number } {
  return { process: cpuSecondsOf(stack.pids()[0] ?? 0), postgres: postgres.cpuSeconds() };
}
