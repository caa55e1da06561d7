// npm run cluster: the gateway and all services, two processes of each, on Kafka, Redis and PostgreSQL. Ctrl-C stops it.
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { startTestPostgres, testKafka, testRedis } from "@scrip/testing";
import { createDatabaseFrom } from "@scrip/testing/empty-database";

import { startComposition } from "./compositions.ts";

const REPLICAS = 2;
const FILE = path.resolve(".scrip/cluster.json");

const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
});
// Each process is killed with this one.
process.setMaxListeners(100);
await using parts = new AsyncDisposableStack();
const servers = await Promise.all([startTestPostgres(), testRedis(), testKafka()]);
const [postgres, redis, kafka] = servers;
for (const server of servers) parts.use(server);
const testRun = `cluster_${randomBytes(4).toString("hex")}`;
const database = await createDatabaseFrom({ postgresUrl: postgres.url, testRun }, "template1");
const stack = parts.use(
  await startComposition("distributed", {
    database,
    replicas: REPLICAS,
    env: { SCRIP_REDIS_URL: redis.url, SCRIP_KAFKA_BROKERS: kafka.brokers },
  }),
);
await mkdir(path.dirname(FILE), { recursive: true });
await writeFile(FILE, JSON.stringify(stack, undefined, 2));
const rows = {
  gateway: stack.url,
  ...stack.grpc,
  PostgreSQL: stack.databaseUrl,
  Redis: redis.url,
  Kafka: kafka.brokers,
  log: stack.log,
  metrics: Object.values(stack.metrics).join(" "),
};
for (const [name, where] of Object.entries(rows)) console.log(`${name.padEnd(12)}${where}`);
console.log(`\nKeys and addresses are in ${FILE}. End-to-end tests against it:
TEST_CLUSTER=${FILE} npm test -- --project e2e`);
await stopped;
console.log("stopping");
