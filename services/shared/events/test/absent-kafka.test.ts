import { once } from "node:events";
import { createServer } from "node:net";

import { createKafkaEventBus } from "@scrip/events";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { newGroup, newTopic } from "./conformance/broker.ts";

const server = await emptyDatabase();
afterAll(() => server[Symbol.asyncDispose]());

/** A port that no process listens on. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  listener.close();
  await once(listener, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("subscriptions that wait for absent brokers close without using up their deadlines", async () => {
  const bus = await createKafkaEventBus({
    url: server.url,
    kafka: { brokers: [`127.0.0.1:${await freePort()}`] },
    onError: () => {},
  });
  const handler = async (): Promise<void> => {};
  const subscriptions = await Promise.all(
    Array.from({ length: 10 }, () =>
      bus.subscribe({ group: newGroup(), topics: [newTopic()], handler }),
    ),
  );
  const begun = performance.now();
  for (const subscription of subscriptions) await subscription.close(5_000);
  await bus.close(5_000);
  expect(performance.now() - begun).toBeLessThan(10_000);
});
