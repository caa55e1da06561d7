import { expect, test } from "vitest";

import { readKafkaConnection } from "./settings.ts";

const BROKERS = { SCRIP_KAFKA_BROKERS: "kafka-1:9092, kafka-2:9092" };

test("leaves the events in PostgreSQL without brokers", () => {
  expect(readKafkaConnection({ SCRIP_KAFKA_TLS: "true" })).toBeUndefined();
});

test("reads brokers, encryption, credentials and the epoch", () => {
  const brokers = ["kafka-1:9092", "kafka-2:9092"];
  expect(readKafkaConnection(BROKERS)).toEqual({ brokers, ssl: false });
  const secured = {
    ...BROKERS,
    SCRIP_KAFKA_TLS: "true",
    SCRIP_KAFKA_USERNAME: "scrip",
    SCRIP_KAFKA_PASSWORD: "secret",
    SCRIP_KAFKA_EPOCH: "2",
  };
  expect(readKafkaConnection(secured)).toEqual({
    brokers,
    ssl: true,
    epoch: 2,
    sasl: { mechanism: "scram-sha-512", username: "scrip", password: "secret" },
  });
});

test("takes an empty value as none", () => {
  expect(readKafkaConnection({ SCRIP_KAFKA_BROKERS: " " })).toBeUndefined();
});

test.each([
  [
    { SCRIP_KAFKA_BROKERS: "kafka-1" },
    "SCRIP_KAFKA_BROKERS must be addresses such as kafka-1:9092",
  ],
  [{ SCRIP_KAFKA_BROKERS: ",," }, "SCRIP_KAFKA_BROKERS must be addresses such as kafka-1:9092"],
  [
    { ...BROKERS, SCRIP_KAFKA_USERNAME: "scrip" },
    "SCRIP_KAFKA_USERNAME and SCRIP_KAFKA_PASSWORD belong together",
  ],
])("rejects %j", (env, message) => {
  expect(() => readKafkaConnection(env)).toThrow(message);
});
