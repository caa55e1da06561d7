import { connect as connectSocket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import {
  createKafkaEventBus,
  type EventBus,
  type KafkaConnection,
  type KafkaEventBusOptions,
} from "@scrip/events";
import { createMetrics } from "@scrip/telemetry";
import { emptyDatabase, testKafka } from "@scrip/testing";
import kafkajs, { type Kafka } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { reportEvents } from "../src/metrics.ts";
import { partitionOf } from "../src/partition.ts";
import {
  type Broker,
  buildEvent,
  CLOSE_MS,
  idsOf,
  newGroup,
  newTopic,
  recorder,
  soon,
  throughProxy,
} from "./conformance/broker.ts";
import { AWAY } from "./conformance/faults.ts";
import { eventBusConformance } from "./conformance/index.ts";

const QUICK = {
  onError: () => {},
  requestTimeoutMs: 2_000,
  timings: {
    sessionMs: 3_000,
    heartbeatMs: 200,
    fetchWaitMs: 100,
    handoverMs: 100,
    silenceMs: 20_000,
    backOffMs: 20,
    maxBackOffMs: 200,
  },
  policy: { attempts: 3, backOffMs: 5, maxBackOffMs: 40 },
} satisfies Partial<KafkaEventBusOptions>;

let running: AsyncDisposable;
let broker: Broker;
/** A client besides the adapter. */
let kafka: Kafka;
/** The bus of one more process, without a proxy. */
let openBus: (kafka?: Partial<KafkaConnection>) => Promise<EventBus>;

beforeAll(async () => {
  await using parts = new AsyncDisposableStack();
  const { brokers } = parts.use(await testKafka());
  const { url } = parts.use(await emptyDatabase());
  const [first = ""] = brokers.split(",");
  const [host = "", port] = first.split(":");
  openBus = (connection = {}) =>
    createKafkaEventBus({ ...QUICK, url, kafka: { brokers: [first], ...connection } });
  kafka = new kafkajs.Kafka({ brokers: [first], logLevel: kafkajs.logLevel.NOTHING });
  broker = {
    connect: () =>
      throughProxy({ host, port: Number(port) }, (proxyPort) =>
        openBus({
          socketFactory: ({ onConnect }) => connectSocket(proxyPort, "127.0.0.1", onConnect),
        }),
      ),
    // All tests of the file use one broker.
    [Symbol.asyncDispose]: async () => {},
  };
  running = parts.move();
});
afterAll(() => running[Symbol.asyncDispose]());

eventBusConformance("Kafka", async () => broker);

describe.concurrent("the Kafka adapter", () => {
  test("waits for brokers that are unavailable at its start", async () => {
    const bus = await broker.connect();
    await bus.disconnect();
    const topic = newTopic();
    const { seen, handler } = recorder();
    await bus.subscribe({ group: newGroup(), topics: [topic], handler });
    await expect(bus.publish([buildEvent(topic, "v_1", 1)])).rejects.toThrow(AWAY);
    await bus.reconnect();
    await soon(() => bus.publish([buildEvent(topic, "v_1", 1)]));
    await soon(() => expect(new Set(idsOf(seen))).toEqual(new Set(["v_1-1"])));
    await bus.close(CLOSE_MS);
  });

  test("moves records that are not events to the dead letters, and skips empty ones", async () => {
    const bus = await broker.connect();
    const [topic, group] = [newTopic(), newGroup()];
    const { seen, handler } = recorder();
    await bus.publish([buildEvent(topic, "v_1", 1)]);
    const producer = kafka.producer();
    await producer.connect();
    const partition = partitionOf("proj_1", "v_1");
    await producer.send({
      topic,
      messages: [
        { key: "foreign", value: "{not protobuf}", partition },
        { key: "deleted", value: null, partition },
        { key: "empty", value: "", partition },
      ],
    });
    await producer.disconnect();
    await bus.publish([buildEvent(topic, "v_1", 2)]);
    await bus.subscribe({ group, topics: [topic], handler });

    await soon(() => expect(idsOf(seen)).toEqual(["v_1-1", "v_1-2"]));
    await soon(async () => expect(await bus.lag(group)).toEqual([]));
    const letters = await bus.deadLetters({ group }, 10);
    expect(letters.map(({ event }) => [event.key, event.partition, event.offset])).toEqual([
      ["foreign", partition, 1n],
      ["empty", partition, 3n],
    ]);
    expect(letters[0]?.error).toContain("the record is not an event");
    await bus.close(CLOSE_MS);
  });

  test("marks events with the epoch of the installation, unless they have one", async () => {
    const [bus, restored] = [await broker.connect(), await openBus({ epoch: 2 })];
    const topic = newTopic();
    const { seen, handler } = recorder();
    await bus.publish([buildEvent(topic, "v_1", 1)]);
    await restored.publish([
      buildEvent(topic, "v_1", 2),
      { ...buildEvent(topic, "v_1", 3), epoch: 1 },
    ]);
    await bus.subscribe({ group: newGroup(), topics: [topic], handler });
    await soon(() => expect(seen.map(({ epoch }) => epoch)).toEqual([undefined, 2, 1]));
    await Promise.all([bus.close(CLOSE_MS), restored.close(CLOSE_MS)]);
  });

  test("rejects a topic with another number of partitions", async () => {
    const bus = await broker.connect();
    const topic = newTopic();
    const admin = kafka.admin();
    await admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: false });
    await expect(bus.publish([buildEvent(topic, "v_1", 1)])).rejects.toThrow(
      `the topic ${topic} has 3 partitions instead of 12`,
    );
    await admin.disconnect();
    await bus.close(CLOSE_MS);
  });
});

test("metrics count the events that a group has not handled", async () => {
  const metrics = createMetrics({ withProcess: false });
  const bus = reportEvents(await broker.connect(), metrics);
  const [group, topic] = [newGroup(), newTopic()];
  const released = Promise.withResolvers<void>();
  await bus.subscribe({ group, topics: [topic], handler: () => released.promise });
  await bus.publish([buildEvent(topic, "v_1", 1), buildEvent(topic, "v_1", 2)]);
  const line = `consumer_lag_events{group="${group}"}`;
  await soon(async () => expect(await metrics.text()).toContain(`${line} 2`));
  released.resolve();
  await soon(async () => expect(await metrics.text()).toContain(`${line} 0`));
  await bus.close(CLOSE_MS);
});

test("sets no timer in the past while it is idle, which would occupy the processor", async () => {
  const bus = await broker.connect();
  const topic = newTopic();
  const { seen, handler } = recorder();
  await bus.subscribe({ group: newGroup(), topics: [topic], handler });
  await bus.publish([buildEvent(topic, "v_1", 1)]);
  await soon(() => expect(seen).toHaveLength(1));
  const timers = vi.spyOn(globalThis, "setTimeout");
  await pause(500);
  const delays = timers.mock.calls.map(([, ms]) => ms ?? 0);
  timers.mockRestore();
  expect(delays.filter((ms) => ms < 0)).toEqual([]);
  await bus.close(CLOSE_MS);
});
