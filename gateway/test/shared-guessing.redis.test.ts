import { once } from "node:events";

import { type Claims, createClaims, createRedis } from "@scrip/redis";
import { testRedis } from "@scrip/testing";
import { afterAll, expect, onTestFinished, test } from "vitest";

import { redisCounters } from "../src/limits/counter-stores.ts";
import { createSharedGuessing } from "../src/limits/shared-guessing.ts";

const server = await testRedis();
afterAll(() => server[Symbol.asyncDispose]());

/** What a replica of the gateway shares with the others. */
async function startReplica() {
  const redis = await createRedis(server.url, () => {});
  const claims: Claims = createClaims(redis, () => {});
  onTestFinished(() => {
    claims[Symbol.dispose]();
    redis.disconnect();
  });
  await once(redis, "ready");
  const failures: unknown[] = [];
  const shared = createSharedGuessing(redisCounters(redis), {
    claims,
    onFallback: (error) => void failures.push(error),
  });
  await expect
    .poll(() => shared.claimReport([claimOf("ready")]).then(() => failures.splice(0)))
    .toEqual([]);
  return { ...shared, failures };
}

test("only one of several replicas reports a code found at the same time by callers with the same address and customer", async () => {
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
  const wins: number[] = [];
  for (let caller = 0; caller < 500; caller += 1) {
    const names = [`address ${caller}`, `customer ${caller}`, `session ${caller}`];
    const claimed = await Promise.all(
      replicas.map(({ claimReport }) => claimReport(names.map(claimOf))),
    );
    wins.push(claimed.filter(Boolean).length);
  }
  expect(wins).toEqual(wins.map(() => 1));
  const [one, two] = replicas;
  // Of two callers that share an address, each is reported.
  expect(await one?.claimReport([claimOf("address 0"), claimOf("customer of another")])).toBe(true);
  expect(await two?.claimReport([claimOf("address 0"), claimOf("customer of another")])).toBe(
    false,
  );
});

test("replicas report once also when Redis responds after a while", async () => {
  const replicas = await Promise.all([startReplica(), startReplica()]);
  server.freeze();
  const claimed = Promise.all(replicas.map(({ claimReport }) => claimReport([claimOf("late")])));
  await new Promise((resolve) => setTimeout(resolve, 300));
  server.thaw();
  expect((await claimed).filter(Boolean)).toHaveLength(1);
});

test("each replica reports its own counts while Redis is unavailable", async () => {
  const replicas = await Promise.all([startReplica(), startReplica()]);
  await server.kill();
  for (const { claimReport, failures } of replicas) {
    expect(await claimReport([claimOf("away")])).toBe(true);
    expect(failures).toHaveLength(1);
  }
});

const claimOf = (name: string) => ({ name, ms: 60_000 });
