import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { type TestKafka, testKafka } from "@scrip/testing";
import kafkajs, { type Kafka } from "kafkajs";
import { Client } from "pg";

import { openBenchDatabase } from "../load/postgres.ts";
import { type Composition, type Stack, startComposition } from "../stack/compositions.ts";
import { openShop, type Shop } from "./shop.ts";

/** Where the event log of an installation is. */
export type Bus = "postgres" | "kafka";

/** An installation with a loyalty programme, whose customers earn points for paid orders. */
export type Installation = {
  readonly stack: Stack;
  readonly shop: Shop;
  /** A superuser of its database. */
  readonly database: Client;
  /** The broker, with its process; undefined when the events are in PostgreSQL. */
  readonly kafka: Broker | undefined;
};

export type Broker = NonNullable<TestKafka["program"]> & {
  readonly client: Kafka;
  /** As in SCRIP_KAFKA_BROKERS. */
  readonly brokers: string;
};

/** Starts an installation of its own for `work`. */
export async function withInstallation(
  {
    bus,
    composition,
    replicas = 1,
  }: {
    readonly bus: Bus;
    readonly composition: Composition;
    readonly replicas: number | undefined;
  },
  work: (installation: Installation) => Promise<void>,
): Promise<void> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-faults-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = parts.use(await openBenchDatabase(path.join(folder, "postgres")));
  const url = await postgres.create("faults");
  const kafka = bus === "kafka" ? parts.use(await testKafka()) : undefined;
  const stack = parts.use(
    await startComposition(composition, {
      database: { url, [Symbol.asyncDispose]: async () => {} },
      replicas,
      env: { ...(kafka && { SCRIP_KAFKA_BROKERS: kafka.brokers }) },
    }),
  );
  const database = new Client({ connectionString: url });
  // Faults end its connection, too.
  database.on("error", () => {});
  await database.connect();
  parts.defer(() => database.end());
  await work({ stack, shop: await openShop(stack), database, kafka: brokerOf(kafka) });
}

function brokerOf(kafka: TestKafka | undefined): Broker | undefined {
  if (kafka === undefined) return undefined;
  if (kafka.program === undefined)
    throw new Error("faults start and kill a broker of their own: unset KAFKA_BROKERS");
  const client = new kafkajs.Kafka({
    brokers: kafka.brokers.split(","),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  return { ...kafka.program, client, brokers: kafka.brokers };
}

/** The broker of a fault that runs with Kafka only. */
export function brokerIn({ kafka }: Pick<Installation, "kafka">): Broker {
  if (kafka === undefined) throw new Error("this fault needs Kafka");
  return kafka;
}
