import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { freePort } from "./free-port.ts";
import { type KafkaProgram, startKafkaProgram } from "./kafka-program.ts";
import { findKafka } from "./optional-servers.ts";

export type TestKafka = AsyncDisposable & {
  /** Addresses as in SCRIP_KAFKA_BROKERS. */
  readonly brokers: string;
  /** Only for a broker that this process has started. */
  readonly program?: Pick<KafkaProgram, "kill" | "restart" | "wipe">;
};

const IMAGE = "apache/kafka:4.1.2";
const KAFKA_PORT = 9092;

/**
 * A real Kafka for one test file: the brokers of KAFKA_BROKERS, else one that Java and Maven run,
 * else a container. Fails if there is none.
 */
export async function testKafka(): Promise<TestKafka> {
  const source = findKafka();
  if (source === "program") return startProgram();
  if (source === "container") return startContainer();
  if (source !== undefined) return { ...source, [Symbol.asyncDispose]: async () => {} };
  throw new Error(
    "This test needs Kafka: install Java 17 or later and Maven, set KAFKA_BROKERS, or start Docker",
  );
}

async function startProgram(): Promise<TestKafka> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-kafka-"));
  const ports = { port: await freePort(), controllerPort: await freePort() };
  const kafka = await startKafkaProgram({ folder, ...ports });
  return {
    brokers: kafka.brokers,
    program: kafka,
    async [Symbol.asyncDispose]() {
      await kafka.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A broker that expects encryption and credentials. */
export type SecuredKafka = AsyncDisposable & {
  readonly brokers: string;
  /** What clients have to trust, in PEM format. */
  readonly certificate: string;
  readonly username: string;
  readonly password: string;
};

/** Undefined where tests use a broker that no program of this machine has started. */
export async function testSecuredKafka(): Promise<SecuredKafka | undefined> {
  if (findKafka() !== "program") return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-kafka-"));
  const user = { username: "scrip", password: randomUUID() };
  const secured = { ...user, port: await freePort() };
  const ports = { port: await freePort(), controllerPort: await freePort() };
  const kafka = await startKafkaProgram({ folder, ...ports, secured });
  return {
    ...user,
    brokers: `127.0.0.1:${secured.port}`,
    certificate: kafka.certificate ?? "",
    async [Symbol.asyncDispose]() {
      await kafka.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Clients connect to the address that the broker announces, so its port is chosen before the start. */
async function startContainer(): Promise<TestKafka> {
  const { GenericContainer, Wait } = await import("testcontainers");
  const port = await freePort();
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: KAFKA_PORT, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: "1",
      KAFKA_PROCESS_ROLES: "broker,controller",
      KAFKA_LISTENERS: `PLAINTEXT://:${KAFKA_PORT},CONTROLLER://:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: "CONTROLLER",
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
      KAFKA_CONTROLLER_QUORUM_VOTERS: "1@localhost:9093",
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1",
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false",
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "0",
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: "500",
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/u))
    .start();
  return {
    brokers: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await container.stop();
    },
  };
}
