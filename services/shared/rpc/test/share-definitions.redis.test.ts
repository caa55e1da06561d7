import path from "node:path";

import { createDefinitionVersions } from "@scrip/postgres";
import { createMessages, createRedis } from "@scrip/redis";
import { testDatabase, testRedis } from "@scrip/testing";
import { expect, test } from "vitest";

import { shareDefinitions } from "../src/index.ts";

const PROJECT = "proj_1";
const CHANNEL = "scrip:definitions:prices";

test("another process sees a change immediately with Redis, and within a second without it", async () => {
  await using redis = await testRedis();
  await using db = await testDatabase({
    schema: "prices",
    role: "scrip_prices",
    folder: path.join(import.meta.dirname, "../../postgres/test/fixture/prices"),
  });
  // A version expires only when the test says so.
  let now = 0;
  const startProcess = async () => {
    const client = await createRedis(redis.url, () => {});
    const messages = createMessages(client, () => {});
    const definitions = createDefinitionVersions({ db, now: () => now });
    shareDefinitions(messages, { name: "prices", definitions });
    await expect.poll(() => client.status).toBe("ready");
    const [write, epoch] = [
      () => definitions.write(PROJECT, async () => {}),
      async () => definitions.epochOf(PROJECT),
    ];
    return { client, write, epoch, messages };
  };
  const [one, two] = [await startProcess(), await startProcess()];
  await expect.poll(() => one.client.pubsub("NUMSUB", CHANNEL)).toEqual([CHANNEL, 2]);

  const before = await two.epoch();
  expect(await two.epoch()).toBe(before);
  await one.write();
  await expect.poll(() => two.epoch(), { interval: 5 }).not.toBe(before);

  await redis.kill();
  const known = await two.epoch();
  await one.write();
  expect(await two.epoch()).toBe(known);
  now += 1_000;
  expect(await two.epoch()).not.toBe(known);
  for (const { client, messages } of [one, two]) {
    messages[Symbol.dispose]();
    client.disconnect();
  }
});
