import { type Env, readEnv, variable } from "@scrip/config";

import type { EventBus } from "./bus.ts";
import type { LogRetention } from "./pg/log-retention.ts";
import { createPgEventBus } from "./pg/pg-event-bus.ts";

export type OwnBusOptions = {
  readonly env: Env;
  /**
   * Also holds the events, unless SCRIP_EVENTS_DATABASE_URL names another database for all
   * services.
   */
  readonly databaseUrl: string;
  readonly retention?: LogRetention;
  readonly onError: (error: Error) => void;
};

/** How long consumers may take to finish when the process stops. */
const CLOSE_MS = 5_000;

/** Opens a bus for a service that runs as its own process, and closes it after the service. */
export async function withEventBus<Service extends AsyncDisposable>(
  { env, databaseUrl, retention, onError }: OwnBusOptions,
  create: (bus: EventBus) => Promise<Service>,
): Promise<Service> {
  const { url } = readEnv(env, {
    url: {
      name: "SCRIP_EVENTS_DATABASE_URL",
      reader: variable.withDefault(variable.url, databaseUrl),
    },
  });
  await using parts = new AsyncDisposableStack();
  const bus = await createPgEventBus({ url, onError, ...(retention && { retention }) });
  parts.defer(() => bus.close(CLOSE_MS));
  const service = parts.use(await create(bus));
  const running = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
