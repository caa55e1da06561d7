import { createPgEventBus, type PgEventBusOptions } from "@scrip/events";
import { emptyDatabase } from "@scrip/testing";

import type { Broker } from "./conformance/broker.ts";
import { eventBusConformance } from "./conformance/index.ts";

const QUICK = {
  onError: () => {},
  timings: { leaseMs: 700, heartbeatMs: 150, idlePollMs: 50, busyPollMs: 10, busyForMs: 200 },
  policy: { attempts: 3, backOffMs: 5, maxBackOffMs: 40 },
} satisfies Partial<PgEventBusOptions>;

async function startBroker(): Promise<Broker> {
  const database = await emptyDatabase();
  return {
    connect: () => createPgEventBus({ ...QUICK, url: database.url }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

eventBusConformance("Postgres", startBroker);
