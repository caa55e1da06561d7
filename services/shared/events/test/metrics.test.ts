import path from "node:path";

import {
  createEventBus,
  enqueue,
  type EventBus,
  inboxHandler,
  OUTBOX_READER,
  startRelay,
} from "@scrip/events";
import { createDatabase, migrate } from "@scrip/postgres";
import { createMetrics } from "@scrip/telemetry";
import { emptyDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { insertDeadLetter } from "../src/pg/dead-letters.ts";
import { buildEvent, CLOSE_MS, newTopic } from "./conformance/broker.ts";

const SERVICE = { schema: "service", role: "scrip_service" };
const onError = (): void => {};

test("metrics tell which events are not published, not handled or set aside", async () => {
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await emptyDatabase());
  const metrics = createMetrics({ withProcess: false });
  const bus = await createEventBus({ kafka: undefined, url, metrics, onError });
  parts.defer(() => bus.close(CLOSE_MS));
  const folder = path.join(import.meta.dirname, "fixture");
  await migrate({ url, ...SERVICE, folder, reader: OUTBOX_READER });
  const db = createDatabase({ url, ...SERVICE, poolSize: 2, onError });
  parts.defer(() => db.close());
  const log = createDatabase({
    url,
    schema: "events",
    role: "scrip_events",
    poolSize: 1,
    onError,
  });
  parts.defer(() => log.close());
  const figureOf = async (name: string): Promise<number> => {
    const line = (await metrics.text()).split("\n").find((text) => text.startsWith(`${name} `));
    return Number(line?.split(" ")[1]);
  };
  const topic = newTopic();
  const [lag, letters] = ["consumer_lag_seconds", "dead_letters"].map(
    (name) => `${name}{group="slow"}`,
  ) as [string, string];

  // A relay that cannot publish.
  const closed: EventBus = {
    ...bus,
    openOutbox: () => Promise.reject(new Error("the log is away")),
  };
  const relay = startRelay({ db, bus: closed, onError });
  expect(await figureOf("outbox_oldest_seconds")).toBe(0);
  await enqueue(db, [buildEvent(topic, "v_1", 1)], undefined);
  await db.query("update outbox set created_at = created_at - interval '1 hour'");
  expect(await figureOf("outbox_oldest_seconds")).toBeGreaterThanOrEqual(3_600);
  expect(await figureOf("outbox_rows")).toBe(1);
  await relay.close();
  expect(await figureOf("outbox_oldest_seconds")).toBe(0);
  expect(await figureOf("outbox_rows")).toBe(0);

  // A group that has read all, and then one that handles nothing.
  const released = Promise.withResolvers<void>();
  const subscription = await bus.subscribe({
    group: "slow",
    topics: [topic],
    handler: () => released.promise,
  });
  expect(await figureOf(lag)).toBe(0);
  await bus.publish([buildEvent(topic, "v_1", 2)]);
  await log.query("update bus_batch set published_at = published_at - interval '1 hour'");
  expect(await figureOf(lag)).toBeGreaterThanOrEqual(3_600);
  released.resolve();
  await expect.poll(() => figureOf(lag)).toBe(0);
  await subscription.close(CLOSE_MS);

  expect(await metrics.text()).not.toContain("dead_letters{");
  const event = { ...buildEvent(topic, "v_1", 3), partition: 0, offset: 3n };
  await insertDeadLetter(log, {
    group: "slow",
    event: { ...event, occurredAt: new Date() },
    error: "no",
    attempts: 5,
  });
  expect(await figureOf(letters)).toBe(1);
});

test("metrics count events that a group receives again", async () => {
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await emptyDatabase());
  const metrics = createMetrics({ withProcess: false });
  const bus = await createEventBus({ kafka: undefined, url, metrics, onError });
  parts.defer(() => bus.close(CLOSE_MS));
  const folder = path.join(import.meta.dirname, "fixture");
  await migrate({ url, ...SERVICE, folder });
  const db = createDatabase({ url, ...SERVICE, poolSize: 2, onError });
  parts.defer(() => db.close());
  const topic = newTopic();
  const handled: string[] = [];
  const handler = inboxHandler(db, {
    consumer: "counter",
    read: ({ id }) => id,
    work: async (_tx, ids) => void handled.push(...ids),
  });
  const subscription = await bus.subscribe({ group: "counter", topics: [topic], handler });
  parts.defer(() => subscription.close(CLOSE_MS));
  await bus.publish([buildEvent(topic, "v_1", 1), buildEvent(topic, "v_1", 2)]);
  await expect.poll(() => handled, { timeout: 20_000 }).toEqual(["v_1-1", "v_1-2"]);
  expect(await metrics.text()).toContain('inbox_duplicates_total{group="counter"} 0');
  await bus.publish([buildEvent(topic, "v_1", 1), buildEvent(topic, "v_1", 3)]);
  await expect
    .poll(() => metrics.text(), { timeout: 20_000 })
    .toContain('inbox_duplicates_total{group="counter"} 1');
  await expect.poll(() => handled, { timeout: 20_000 }).toEqual(["v_1-1", "v_1-2", "v_1-3"]);
});
