// npm run cluster: the gateway and all services, two processes of each, on Kafka, Redis and PostgreSQL. Ctrl-C stops it.
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { startTestPostgres } from "@scrip/testing";
import { createDatabaseFrom } from "@scrip/testing/empty-database";

import { startCluster } from "./cluster.ts";

const FILE = path.resolve(".scrip/cluster.json");

const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve());
});
// Each process is killed with this one.
process.setMaxListeners(100);
await using parts = new AsyncDisposableStack();
const postgres = parts.use(await startTestPostgres());
const testRun = `cluster_${randomBytes(4).toString("hex")}`;
const database = await createDatabaseFrom({ postgresUrl: postgres.url, testRun }, "template1");
const stack = parts.use(await startCluster({ database }));
await mkdir(path.dirname(FILE), { recursive: true });
await writeFile(FILE, JSON.stringify(stack, undefined, 2));
const rows = {
  gateway: stack.url,
  ...stack.grpc,
  PostgreSQL: stack.databaseUrl,
  Redis: stack.redis,
  Kafka: stack.kafka,
  log: stack.log,
  metrics: Object.values(stack.metrics).join(" "),
};
for (const [name, where] of Object.entries(rows)) console.log(`${name.padEnd(12)}${where}`);
console.log(`\nKeys and addresses are in ${FILE}. End-to-end tests against it:
TEST_CLUSTER=${FILE} npm test -- --project 'e2e*' --maxWorkers 1`);
await stopped;
console.log("stopping");
