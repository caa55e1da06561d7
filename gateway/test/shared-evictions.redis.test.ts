import { createMessages, createRedis } from "@scrip/redis";
import { testRedis } from "@scrip/testing";
import { expect, test } from "vitest";

import { shareEvictions } from "../src/auth/shared-evictions.ts";
import { enableClientFeatures } from "./builders.ts";
import { createTestService, startTestGateway } from "./deps.ts";

test("a replica sees a changed project immediately with Redis, and later without it", async () => {
  await using redis = await testRedis();
  await using gateway = await startTestGateway({ config: { redisUrl: redis.url } });
  // Its cache expires only when the test says so.
  let now = Date.now();
  await using replica = await createTestService(gateway.databaseUrl, undefined, {
    clock: () => now,
  });
  const client = await createRedis(redis.url, () => {});
  using messages = createMessages(client, () => {});
  shareEvictions(messages, replica.credentialCache);
  await expect.poll(() => client.status).toBe("ready");
  // The gateway and the replica.
  await expect
    .poll(async () => client.pubsub("NUMSUB", "scrip:evictions"))
    .toEqual(["scrip:evictions", 2]);

  const mayRedeem = async () => {
    const principal = await replica.credentialCache.loadKey(gateway.keys.clientAppId, "normal");
    return principal?.clientFeatures.has("redeem");
  };
  expect(await mayRedeem()).toBe(false);
  await enableClientFeatures(gateway, { client_redeem_enabled: true });
  await expect.poll(mayRedeem, { interval: 5 }).toBe(true);

  await redis.kill();
  await enableClientFeatures(gateway, { client_redeem_enabled: false });
  expect(await mayRedeem()).toBe(true);
  now += 5_000;
  expect(await mayRedeem()).toBe(false);
  client.disconnect();
});
