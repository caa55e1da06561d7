import { type Env, readEnv, readTogether, variable } from "@scrip/config";
import type { Metrics } from "@scrip/telemetry";

import type { EventBus } from "./bus.ts";
import { createKafkaEventBus } from "./kafka/kafka-event-bus.ts";
import { type KafkaConnection, readKafkaConnection } from "./kafka/settings.ts";
import { reportEvents } from "./metrics.ts";
import type { LogRetention } from "./pg/log-retention.ts";
import { createPgEventBus } from "./pg/pg-event-bus.ts";

export type EventBusOptions = {
  /** The log is in Kafka; otherwise in the database. */
  readonly kafka: KafkaConnection | undefined;
  /** Holds the log, or only its dead letters when the log is in Kafka. */
  readonly url: string;
  readonly poolSize?: number;
  readonly retention?: LogRetention;
  /** Where connections, late events and duplicates are reported. */
  readonly metrics?: Metrics;
  readonly onError: (error: Error) => void;
};

/** Opens the event log of an installation. */
export async function createEventBus({ kafka, ...options }: EventBusOptions): Promise<EventBus> {
  const bus =
    kafka === undefined
      ? await createPgEventBus(options)
      : await createKafkaEventBus({ ...options, kafka });
  const { metrics } = options;
  return metrics === undefined ? bus : reportEvents(bus, metrics);
}

/** Where the events of an installation are. */
export type EventLog = {
  readonly kafka: KafkaConnection | undefined;
  /** Holds the events of all services; undefined when all services share one database, which does. */
  readonly databaseUrl: string | undefined;
};

export function readEventLog(env: Env): EventLog {
  const [kafka, { databaseUrl }] = readTogether(
    () => readKafkaConnection(env),
    () =>
      readEnv(env, {
        databaseUrl: {
          name: "SCRIP_EVENTS_DATABASE_URL",
          reader: variable.optional(variable.databaseUrl),
        },
      }),
  );
  return { kafka, databaseUrl };
}

export type OwnBusOptions = {
  readonly log: EventLog;
  /** The database of the service. */
  readonly databaseUrl: string;
  readonly retention?: LogRetention;
  readonly metrics: Metrics;
  readonly onError: (error: Error) => void;
};

/** How long consumers may take to finish when the process stops. */
const CLOSE_MS = 5_000;

/** Opens a bus for a service that runs as its own process, and closes it after the service. */
export async function withEventBus<Service extends AsyncDisposable>(
  { log, databaseUrl, ...options }: OwnBusOptions,
  create: (bus: EventBus) => Promise<Service>,
): Promise<Service> {
  await using parts = new AsyncDisposableStack();
  const bus = await createEventBus({
    ...options,
    kafka: log.kafka,
    url: log.databaseUrl ?? databaseUrl,
  });
  parts.defer(() => bus.close(CLOSE_MS));
  const service = parts.use(await create(bus));
  parts.defer(() => bus.closeSubscriptions(CLOSE_MS));
  const running = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
