import { type Env, readEnv, variable } from "@scrip/config";
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

export type OwnBusOptions = {
  readonly env: Env;
  /**
   * Also holds the events, unless SCRIP_EVENTS_DATABASE_URL names another database for all
   * services.
   */
  readonly databaseUrl: string;
  readonly retention?: LogRetention;
  readonly metrics: Metrics;
  readonly onError: (error: Error) => void;
};

/** How long consumers may take to finish when the process stops. */
const CLOSE_MS = 5_000;

/** Opens a bus for a service that runs as its own process, and closes it after the service. */
export async function withEventBus<Service extends AsyncDisposable>(
  { env, databaseUrl, ...options }: OwnBusOptions,
  create: (bus: EventBus) => Promise<Service>,
): Promise<Service> {
  const { url } = readEnv(env, {
    url: {
      name: "SCRIP_EVENTS_DATABASE_URL",
      reader: variable.withDefault(variable.url, databaseUrl),
    },
  });
  await using parts = new AsyncDisposableStack();
  const bus = await createEventBus({ ...options, url, kafka: readKafkaConnection(env) });
  parts.defer(() => bus.close(CLOSE_MS));
  const service = parts.use(await create(bus));
  const running = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
