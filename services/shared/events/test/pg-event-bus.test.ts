import { createPgEventBus, type DeliveredEvent, type PgEventBusOptions } from "@scrip/events";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Broker, CLOSE_MS, buildEvent, soon, throughProxy } from "./conformance/broker.ts";
import { effectConformance } from "./conformance/effects.ts";
import { eventBusConformance } from "./conformance/index.ts";

const QUICK = {
  onError: () => {},
  timings: { leaseMs: 700, heartbeatMs: 150, idlePollMs: 50, busyPollMs: 10, busyForMs: 200 },
  policy: { attempts: 3, backOffMs: 5, maxBackOffMs: 40 },
} satisfies Partial<PgEventBusOptions>;

async function startBroker(): Promise<Broker & { readonly databaseUrl: string }> {
  const database = await emptyDatabase();
  return {
    databaseUrl: database.url,
    connect: async () => {
      const { hostname, port } = new URL(database.url);
      return throughProxy({ host: hostname, port: Number(port) }, (proxyPort) => {
        const url = new URL(database.url);
        url.hostname = "127.0.0.1";
        url.port = String(proxyPort);
        return createPgEventBus({ ...QUICK, url: url.href });
      });
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

eventBusConformance("Postgres", startBroker);

describe("Postgres with the outbox in its database", () => {
  let broker: Awaited<ReturnType<typeof startBroker>>;
  beforeAll(async () => {
    broker = await startBroker();
    // Creates the role that reads the outbox.
    await (await broker.connect()).close(CLOSE_MS);
  });
  afterAll(() => broker[Symbol.asyncDispose]());

  effectConformance(
    () => broker,
    () => broker.databaseUrl,
  );
});

test("passes few events of many partitions to the handler together", async () => {
  await using broker = await startBroker();
  const bus = await broker.connect();
  const events = Array.from({ length: 30 }, (_, index) => buildEvent("joint", `v_${index}`, 1));
  await bus.publish(events);
  const batches: (readonly DeliveredEvent[])[] = [];
  await bus.subscribe({
    group: "joint",
    topics: ["joint"],
    handler: async (batch) => {
      batches.push(batch);
    },
  });
  await soon(() => expect(batches.flat()).toHaveLength(events.length));
  expect(new Set(batches[0]?.map(({ partition }) => partition)).size).toBeGreaterThan(1);
  await bus.close(CLOSE_MS);
});
