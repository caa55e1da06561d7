import { once } from "node:events";

import { testRedis, type TestRedis } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createRedis, type RedisClient } from "../src/index.ts";

let server: TestRedis;
let redis: RedisClient;
const errors: Error[] = [];

beforeAll(async () => {
  server = await testRedis();
  redis = await createRedis(server.url, (error) => errors.push(error));
  await once(redis, "ready");
});

afterAll(async () => {
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});

/** Why a call fails; undefined when it succeeds. */
const failure = (): Promise<string | undefined> =>
  redis.incr("calls").then(
    () => undefined,
    ({ message }: Error) => message,
  );

const NOT_SENT = "Stream isn't writeable and enableOfflineQueue options is false";

test("executes commands while the server is available", async () => {
  await redis.set("greeting", "hello");
  expect(await redis.get("greeting")).toBe("hello");
});

test("fails calls immediately while the server is down, and recovers when it is back", async () => {
  await server.kill();
  await expect.poll(() => redis.status).not.toBe("ready");
  // They are not sent, so there is nothing to wait for.
  for (let call = 0; call < 50; call += 1) expect(await failure()).toBe(NOT_SENT);
  await expect.poll(() => errors.length).toBeGreaterThan(0);

  await server.restart();
  await expect.poll(failure, { timeout: 60_000 }).toBeUndefined();
});

test("does not wait for a server that hangs", async () => {
  server.freeze();
  expect(await failure()).toBe("Command timed out");
  server.thaw();
  await expect.poll(failure, { timeout: 60_000 }).toBeUndefined();
});

test("survives a server that never existed", async () => {
  const seen: Error[] = [];
  const nowhere = await createRedis("redis://127.0.0.1:1", (error) => seen.push(error));
  await expect(nowhere.get("greeting")).rejects.toThrow(/enableOfflineQueue/);
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  nowhere.disconnect();
});
