import { connect } from "node:net";

import { expect, test } from "vitest";

import { testRedis } from "../src/index.ts";

/** Asks the way a client does; answers what the server says, or undefined when it is away. */
function ping(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once("error", () => resolve(undefined));
  });
}

test("a redis-server runs until it is killed and comes back at the same place", async () => {
  await using redis = await testRedis();
  expect(await ping(redis.url)).toBe("+PONG\r\n");
  await redis.kill();
  expect(await ping(redis.url)).toBeUndefined();
  await redis.restart();
  expect(await ping(redis.url)).toBe("+PONG\r\n");
});
