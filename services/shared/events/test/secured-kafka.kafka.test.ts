import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { createKafkaEventBus, type EventBus, readKafkaConnection } from "@scrip/events";
import { emptyDatabase, type SecuredKafka, testSecuredKafka } from "@scrip/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  buildEvent,
  CLOSE_MS,
  idsOf,
  newGroup,
  newTopic,
  recorder,
  soon,
} from "./conformance/broker.ts";

const kafka = await testSecuredKafka();
const database = await emptyDatabase();
const trusted = getCACertificates("default");
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await kafka?.[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** With the settings of a process, whose NODE_EXTRA_CA_CERTS names the certificate. */
function openBus(
  { brokers, username, password }: SecuredKafka,
  settings: Readonly<Record<string, string>> = {},
): Promise<EventBus> {
  const env = {
    SCRIP_KAFKA_BROKERS: brokers,
    SCRIP_KAFKA_TLS: "true",
    SCRIP_KAFKA_USERNAME: username,
    SCRIP_KAFKA_PASSWORD: password,
    ...settings,
  };
  const connection = readKafkaConnection(env)!;
  return createKafkaEventBus({ kafka: connection, url: database.url, onError: () => {} });
}

describe.skipIf(kafka === undefined)("brokers with encryption and credentials", () => {
  beforeAll(() => setDefaultCACertificates([...trusted, kafka!.certificate]));

  test.each(["plain", "scram-sha-256", "scram-sha-512"])(
    "receive and deliver events with %s",
    async (mechanism) => {
      const bus = await openBus(kafka!, { SCRIP_KAFKA_SASL_MECHANISM: mechanism });
      const topic = newTopic();
      const { seen, handler } = recorder();
      await bus.publish([buildEvent(topic, "v_1", 1)]);
      await bus.subscribe({ group: newGroup(), topics: [topic], handler });
      await soon(() => expect(idsOf(seen)).toEqual(["v_1-1"]));
      await bus.close(CLOSE_MS);
    },
  );

  test.each([
    ["another password", { SCRIP_KAFKA_PASSWORD: "guessed" }, /authentication/iu],
    ["no encryption", { SCRIP_KAFKA_TLS: "false" }, /connection|closed|timed? ?out/iu],
  ])("reject publications with %s", async (_name, settings, error) => {
    const bus = await openBus(kafka!, settings);
    await expect(bus.publish([buildEvent(newTopic(), "v_1", 1)])).rejects.toThrow(error);
    await bus.close(CLOSE_MS);
  });

  test("are not trusted with a certificate of an unknown authority", async () => {
    setDefaultCACertificates(trusted);
    const bus = await openBus(kafka!);
    await expect(bus.publish([buildEvent(newTopic(), "v_1", 1)])).rejects.toThrow(/certificate/iu);
    await bus.close(CLOSE_MS);
  });
});
