import path from "node:path";

import { createDatabase, type Database, migrate } from "@scrip/postgres";

import type { EventBus } from "../bus.ts";
import { within } from "../deadline.ts";
import { asError, type DeliveryPolicy } from "../delivery.ts";
import { isTransient } from "../transient.ts";
import { deleteDeadLetter, listDeadLetters } from "./dead-letters.ts";
import { measureLag } from "./group.ts";
import { createLogReader } from "./log-reader.ts";
import { type TrimPolicy, trimLog } from "./log-trim.ts";
import { appendToLog } from "./log.ts";
import { type ConsumerTimings, type PgSubscription, startSubscription } from "./subscription.ts";

export const EVENTS_SCHEMA = "events";
export const EVENTS_ROLE = "scrip_events";
export const EVENTS_MIGRATIONS = path.join(import.meta.dirname, "../../migrations");

export type PgEventBusOptions = {
  readonly url: string;
  readonly onError: (error: Error) => void;
  readonly poolSize?: number;
  readonly timings?: Partial<ConsumerTimings>;
  readonly policy?: Partial<DeliveryPolicy>;
  /** Number of partitions that a subscription handles concurrently. */
  readonly concurrency?: number;
};

export type PgEventBus = EventBus & {
  /**
   * Drops everything as a killed process does, without storing or releasing anything. For tests.
   */
  readonly crash: () => Promise<void>;
};

const HOUR_MS = 3_600_000;

const TRIM_EVERY_MS = HOUR_MS / 6;

const TRIM: TrimPolicy = { keepMs: 72 * HOUR_MS, keepUnreadMs: 14 * 24 * HOUR_MS, chunk: 2_000 };

const TIMINGS: ConsumerTimings = {
  leaseMs: 10_000,
  heartbeatMs: 3_000,
  idlePollMs: 1_000,
  busyPollMs: 50,
  busyForMs: 1_000,
};

const POLICY: DeliveryPolicy = { isTransient, attempts: 5, backOffMs: 100, maxBackOffMs: 10_000 };

const POOL_SIZE = 4;
const CONCURRENCY = 3;
const BATCH = 500;

const consumerSettings = ({ timings, policy, concurrency = CONCURRENCY }: PgEventBusOptions) => ({
  timings: { ...TIMINGS, ...timings },
  policy: { ...POLICY, ...policy },
  concurrency,
  batch: BATCH,
});

/** The event log in Postgres; migrates its schema first. */
export async function createPgEventBus(options: PgEventBusOptions): Promise<PgEventBus> {
  const { url, onError } = options;
  const role = { url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...role, folder: EVENTS_MIGRATIONS });
  const db = createDatabase({ ...role, poolSize: options.poolSize ?? POOL_SIZE, onError });
  const log = createLogReader(db);
  const subscriptions = new Set<PgSubscription>();
  const trimming = keepTrimmed(db, onError);
  const announce = (topics: ReadonlySet<string>): void => {
    log.outdate();
    for (const subscription of subscriptions) subscription.wake(topics);
  };

  return {
    async publish(batch) {
      await appendToLog(db, batch);
      announce(new Set(batch.map(({ topic }) => topic)));
    },
    async subscribe(subscribe) {
      const source = { ...subscribe, db, read: log.read, onError };
      const subscription = await startSubscription({ ...source, ...consumerSettings(options) });
      subscriptions.add(subscription);
      return {
        poll: () => announce(new Set(subscribe.topics)),
        async close(deadlineMs) {
          subscriptions.delete(subscription);
          await subscription.close(deadlineMs);
        },
      };
    },
    lag: (group) => measureLag(db, group),
    deadLetters: (group, limit) => listDeadLetters(db, group, limit),
    async replay(group, { event }) {
      await db.transaction(async (tx) => {
        // Deleted first: when two operators replay the same letter, one succeeds.
        if ((await deleteDeadLetter(tx, group, event)) === "deleted")
          await appendToLog(tx, [event]);
      });
      announce(new Set([event.topic]));
    },
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      trimming.stop();
      await Promise.all([...subscriptions].map((subscription) => subscription.close(deadlineMs)));
      subscriptions.clear();
      await within(db.close(), Math.max(endsAt - performance.now(), 0));
    },
    async crash() {
      trimming.stop();
      for (const subscription of subscriptions) subscription.crash();
      await db.close();
    },
  };
}

/** Every process trims; concurrent runs are harmless and rare. */
function keepTrimmed(db: Database, onError: (error: Error) => void): { stop: () => void } {
  const timer = setInterval(() => {
    trimLog(db, TRIM).catch((error: unknown) => onError(asError(error)));
  }, TRIM_EVERY_MS);
  // The timer must not keep an idle process alive.
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
