import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { createDatabase, migrate } from "@scrip/postgres";
import type { Metrics } from "@scrip/telemetry";
import type { Kafka } from "kafkajs";

import type { EventBus } from "../bus.ts";
import { closeAll } from "../close-all.ts";
import { within } from "../deadline.ts";
import type { DeliveryPolicy } from "../delivery.ts";
import { countDeadLetters, deleteDeadLetter, listDeadLetters } from "../pg/dead-letters.ts";
import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "../pg/events-schema.ts";
import { type LogRetention, RETENTION } from "../pg/log-retention.ts";
import { BATCH, CONCURRENCY, POLICY } from "../settings.ts";
import { createReplacedClient } from "./client.ts";
import { measureBacklogs, measureLag } from "./lag.ts";
import { createPublisher } from "./publisher.ts";
import { RETRY } from "./retry.ts";
import type { KafkaConnection } from "./settings.ts";
import { type KafkaConsumerTimings, startSubscription } from "./subscription.ts";
import { createTopics } from "./topics.ts";

export type KafkaEventBusOptions = {
  readonly kafka: KafkaConnection;
  /** Holds the dead letters. */
  readonly url: string;
  readonly metrics?: Metrics | undefined;
  readonly onError: (error: Error) => void;
  readonly timings?: Partial<KafkaConsumerTimings>;
  readonly policy?: Partial<DeliveryPolicy>;
  /** How long topics that the adapter creates retain their events, handled or not. */
  readonly retention?: Pick<LogRetention, "keepUnhandledMs">;
  /** Number of partitions that a subscription handles concurrently. */
  readonly concurrency?: number;
  /** How long to wait for the response of a broker. */
  readonly requestTimeoutMs?: number;
};

const TIMINGS: KafkaConsumerTimings = {
  sessionMs: 15_000,
  heartbeatMs: 3_000,
  fetchWaitMs: 2_000,
  handoverMs: 500,
  silenceMs: 60_000,
  backOffMs: 250,
  maxBackOffMs: 10_000,
};

const REQUEST_TIMEOUT_MS = 5_000;
const CONNECTION_TIMEOUT_MS = 3_000;
/** Dead letters only. */
const POOL_SIZE = 2;

/** Loaded on demand, so that processes without Kafka start faster. */
async function loadKafkajs() {
  const { default: kafkajs } = await import("kafkajs");
  // Operators may have topics compressed; kafkajs itself reads gzip only.
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
  });
  return kafkajs;
}

type KafkaClient = Awaited<ReturnType<typeof loadKafkajs>>;

/** The event log in Kafka. Connects when it is used: brokers may be unavailable at the start. */
export async function createKafkaEventBus(options: KafkaEventBusOptions): Promise<EventBus> {
  const { url, onError, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const role = { url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...role, folder: EVENTS_MIGRATIONS });
  const db = createDatabase({ ...role, poolSize: POOL_SIZE, metrics: options.metrics, onError });
  const timings = { ...TIMINGS, ...options.timings };
  const kafkajs = await loadKafkajs();
  const kafka = connectTo(kafkajs, options, requestTimeoutMs);
  // Joining a group can block until the session of a dead member has expired.
  const kafkaOfConsumers = connectTo(kafkajs, options, timings.sessionMs + requestTimeoutMs);
  const admin = createReplacedClient(() => kafka.admin());
  const topics = createTopics(admin, options.retention ?? RETENTION);
  const publisher = createPublisher(kafka, topics, options.kafka.epoch);
  const subscriptions = new Set<ReturnType<typeof startSubscription>>();
  const topicsOf = new Map<string, readonly string[]>();

  return {
    publish: publisher.publish,
    async subscribe(subscribe) {
      const subscription = startSubscription({
        ...subscribe,
        kafka: kafkaOfConsumers,
        db,
        catalog: topics,
        onError,
        timings,
        policy: { ...POLICY, ...options.policy },
        concurrency: options.concurrency ?? CONCURRENCY,
        batch: BATCH,
      });
      subscriptions.add(subscription);
      const known = topicsOf.get(subscribe.group) ?? [];
      topicsOf.set(subscribe.group, [...known, ...subscribe.topics]);
      return {
        // Brokers respond as soon as there are events.
        poll: () => {},
        async close(deadlineMs) {
          subscriptions.delete(subscription);
          await subscription.close(deadlineMs);
        },
      };
    },
    lag: (group) =>
      admin.use((connected) => measureLag(connected, group, topicsOf.get(group) ?? [])),
    backlogs: () => admin.use((connected) => measureBacklogs(connected, topicsOf)),
    deadLetters: (filter, limit) => listDeadLetters(db, filter, limit),
    countDeadLetters: () => countDeadLetters(db),
    async replay({ group, event }) {
      await db.transaction(async (tx) => {
        // Deleted first: when two operators replay the same letter, one succeeds.
        if ((await deleteDeadLetter(tx, group, event)) === "deleted")
          await publisher.publish([event]);
      });
    },
    closeSubscriptions: (deadlineMs) => closeAll(subscriptions, deadlineMs),
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      await closeAll(subscriptions, deadlineMs);
      const ending = Promise.allSettled([publisher.close(), admin.close(), db.close()]);
      await within(ending, Math.max(endsAt - performance.now(), 0));
    },
  };
}

const connectTo = (
  kafkajs: KafkaClient,
  { kafka: { epoch: _epoch, brokers, ...security } }: KafkaEventBusOptions,
  requestTimeout: number,
): Kafka =>
  new kafkajs.Kafka({
    ...security,
    brokers: [...brokers],
    clientId: "scrip",
    requestTimeout,
    connectionTimeout: Math.min(CONNECTION_TIMEOUT_MS, requestTimeout),
    // The callers report relevant errors.
    logLevel: kafkajs.logLevel.NOTHING,
    retry: RETRY,
  });
