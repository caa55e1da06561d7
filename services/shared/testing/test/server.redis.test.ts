import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { testRedis } from "../src/index.ts";

/** Sends PING; returns the response, or undefined if the server cannot be reached. */
function ping(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once("error", () => resolve(undefined));
    socket.once("close", () => resolve(undefined));
  });
}

test("a test server runs until it is killed and restarts on the same port", async () => {
  await using redis = await testRedis();
  expect(await ping(redis.url)).toBe("+PONG\r\n");
  await redis.kill();
  expect(await ping(redis.url)).toBeUndefined();
  await redis.restart();
  expect(await ping(redis.url)).toBe("+PONG\r\n");
});

test("a server of TEST_REDIS_URL only looks killed and frozen to its clients", async () => {
  await using server = await testRedis();
  vi.stubEnv("TEST_REDIS_URL", server.url);
  await using redis = await testRedis();
  vi.unstubAllEnvs();
  expect(redis.url).not.toBe(server.url);
  await redis.kill();
  expect(await ping(redis.url)).toBeUndefined();
  expect(await ping(server.url)).toBe("+PONG\r\n");
  await redis.restart();
  redis.freeze();
  const pong = ping(redis.url);
  expect(await Promise.race([pong, sleep(200)])).toBeUndefined();
  redis.thaw();
  expect(await pong).toBe("+PONG\r\n");
});
