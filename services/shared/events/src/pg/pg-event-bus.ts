import { createDatabase, type Database, migrate } from "@scrip/postgres";
import type { Metrics } from "@scrip/telemetry";

import type { DeadLetter, EventBus } from "../bus.ts";
import { closeAll } from "../close-all.ts";
import { within } from "../deadline.ts";
import type { DeliveryPolicy } from "../delivery.ts";
import { BATCH, CONCURRENCY, POLICY } from "../settings.ts";
import { countDeadLetters, deleteDeadLetter, listDeadLetters } from "./dead-letters.ts";
import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "./events-schema.ts";
import { watchForeignEvents } from "./foreign-events.ts";
import { createGroupStore, measureDelays, measureLag } from "./group.ts";
import { createLogReader } from "./log-reader.ts";
import { keepLogTrimmed, type LogRetention } from "./log-retention.ts";
import { appendToLog } from "./log.ts";
import { createOutboxes, findUnhandledSince } from "./outboxes.ts";
import { type ConsumerTimings, type PgSubscription, startSubscription } from "./subscription.ts";

export type PgEventBusOptions = {
  readonly url: string;
  readonly metrics?: Metrics | undefined;
  readonly onError: (error: Error) => void;
  readonly poolSize?: number;
  readonly timings?: Partial<ConsumerTimings>;
  readonly policy?: Partial<DeliveryPolicy>;
  /** Number of partitions that a subscription handles concurrently. */
  readonly concurrency?: number;
  readonly retention?: LogRetention;
};

export type PgEventBus = EventBus & {
  /**
   * Drops everything as a killed process does, without storing or releasing anything. For tests.
   */
  readonly crash: () => Promise<void>;
};

const TIMINGS: ConsumerTimings = {
  leaseMs: 10_000,
  heartbeatMs: 3_000,
  idlePollMs: 1_000,
  busyPollMs: 150,
  busyForMs: 1_000,
};

const POOL_SIZE = 4;

const consumerSettings = ({ timings, policy, concurrency = CONCURRENCY }: PgEventBusOptions) => ({
  timings: { ...TIMINGS, ...timings },
  policy: { ...POLICY, ...policy },
  concurrency,
  batch: BATCH,
});

/** The event log in Postgres; migrates its schema first. */
export async function createPgEventBus(options: PgEventBusOptions): Promise<PgEventBus> {
  const { url, poolSize = POOL_SIZE, metrics, onError } = options;
  const role = { url, schema: EVENTS_SCHEMA, role: EVENTS_ROLE };
  await migrate({ ...role, folder: EVENTS_MIGRATIONS });
  const db = createDatabase({ ...role, poolSize, metrics, onError });
  const log = createLogReader(db);
  const store = createGroupStore(db);
  const subscriptions = new Set<PgSubscription>();
  const trimming = await keepLogTrimmed({ url, db, retention: options.retention, onError });
  const announce = (topics: ReadonlySet<string>): void => {
    log.outdate();
    for (const subscription of subscriptions) subscription.wake(topics);
  };

  const outboxes = createOutboxes(db, announce);
  const settings = consumerSettings(options);
  const everyMs = settings.timings.idlePollMs;
  const watch = watchForeignEvents({ db, log, subscriptions, everyMs, onError });

  return {
    async publish(batch) {
      await appendToLog(db, batch);
      announce(new Set(batch.map(({ topic }) => topic)));
    },
    openOutbox: outboxes.open,
    unhandledSince: () => findUnhandledSince(db),
    async subscribe(subscribe) {
      const source = { ...subscribe, db, read: log.read, store, onError };
      const subscription = await startSubscription({ ...source, ...settings });
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
    delays: () => measureDelays(db),
    deadLetters: (filter, limit) => listDeadLetters(db, filter, limit),
    countDeadLetters: () => countDeadLetters(db),
    async replay(letter) {
      await replayDeadLetter(db, letter);
      announce(new Set([letter.event.topic]));
    },
    closeSubscriptions: (deadlineMs) => closeAll(subscriptions, deadlineMs),
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      watch.stop();
      await within(trimming.stop(), deadlineMs);
      await closeAll(subscriptions, deadlineMs);
      await within(db.close(), Math.max(endsAt - performance.now(), 0));
    },
    async crash() {
      watch.stop();
      await trimming.stop();
      for (const subscription of subscriptions) subscription.crash();
      await db.close();
    },
  };
}

const replayDeadLetter = (
  db: Database,
  { group, event }: Pick<DeadLetter, "group" | "event">,
): Promise<void> =>
  db.transaction(async (tx) => {
    // Deleted first: when two operators replay the same letter, one succeeds.
    if ((await deleteDeadLetter(tx, group, event)) === "deleted") await appendToLog(tx, [event]);
  });
