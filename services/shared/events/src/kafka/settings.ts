import { ConfigError, type Env, readEnv, variable } from "@scrip/config";
import type { KafkaConfig, SASLOptions } from "kafkajs";

/** How to reach the brokers. */
export type KafkaConnection = Pick<KafkaConfig, "ssl" | "sasl" | "socketFactory"> & {
  readonly brokers: readonly string[];
  /** Published events carry it: see `EventEnvelope.epoch`. */
  readonly epoch?: number;
};

/** The settings of Kafka; undefined when the events of the installation are in PostgreSQL. */
export function readKafkaConnection(env: Env): KafkaConnection | undefined {
  const settings = readEnv(env, {
    brokers: { name: "SCRIP_KAFKA_BROKERS", reader: variable.withDefault(variable.list, []) },
    ssl: { name: "SCRIP_KAFKA_TLS", reader: variable.withDefault(variable.boolean, false) },
    mechanism: {
      name: "SCRIP_KAFKA_SASL_MECHANISM",
      reader: variable.withDefault(
        variable.oneOf("plain", "scram-sha-256", "scram-sha-512"),
        "scram-sha-512",
      ),
    },
    epoch: {
      name: "SCRIP_KAFKA_EPOCH",
      reader: variable.withDefault(variable.integer(0, MAX_EPOCH), 0),
    },
    username: { name: "SCRIP_KAFKA_USERNAME", reader: variable.optional(variable.text) },
    password: { name: "SCRIP_KAFKA_PASSWORD", reader: variable.optional(variable.text) },
  });
  const { brokers, mechanism, username, password } = settings;
  const connection = {
    brokers,
    ssl: settings.ssl,
    ...(settings.epoch > 0 && { epoch: settings.epoch }),
  };
  const isSet = (env["SCRIP_KAFKA_BROKERS"] ?? "").trim() !== "";
  if (!isSet) return undefined;
  // Commas alone name no broker: events would silently be in PostgreSQL.
  if (brokers.length === 0 || !brokers.every((broker) => ADDRESS.test(broker)))
    throw new ConfigError("SCRIP_KAFKA_BROKERS must be addresses such as kafka-1:9092");
  if ((username === undefined) !== (password === undefined))
    throw new ConfigError("SCRIP_KAFKA_USERNAME and SCRIP_KAFKA_PASSWORD belong together");
  if (username === undefined || password === undefined) return connection;
  // The three mechanisms have the same credentials.
  const sasl = { mechanism, username, password } as SASLOptions;
  return { ...connection, sasl };
}

const MAX_EPOCH = 2 ** 31 - 1;

const ADDRESS = /^[^\s:]+:\d{1,5}$/;
