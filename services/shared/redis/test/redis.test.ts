import { once } from "node:events";

import { testRedis, type TestRedis } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createRedis } from "../src/index.ts";

let server: TestRedis;
let redis: ReturnType<typeof createRedis>;
const errors: Error[] = [];

beforeAll(async () => {
  server = await testRedis();
  redis = createRedis(server.url, (error) => errors.push(error));
  await once(redis, "ready");
});

afterAll(async () => {
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});

/** How long a call takes to fail; undefined when it succeeds. */
async function failureMs(): Promise<number | undefined> {
  const started = performance.now();
  return redis.incr("calls").then(
    () => undefined,
    () => performance.now() - started,
  );
}

test("a command is answered while the server is there", async () => {
  await redis.set("greeting", "hello");
  expect(await redis.get("greeting")).toBe("hello");
});

test("calls fail at once while the server is away, and work again when it is back", async () => {
  await server.kill();
  await expect.poll(() => redis.status).not.toBe("ready");
  const times = [];
  for (let call = 0; call < 50; call += 1) times.push(await failureMs());
  expect(times).not.toContain(undefined);
  // The limit of a command is 50 ms; the middle call tells that they wait for nothing, whatever else
  // runs on the machine.
  const sorted = times.map((ms) => ms ?? Infinity).toSorted((a, b) => a - b);
  expect(sorted[25]).toBeLessThan(20);
  await expect.poll(() => errors.length).toBeGreaterThan(0);

  await server.restart();
  await expect.poll(failureMs, { timeout: 5_000 }).toBeUndefined();
});

test("a server that hangs is waited for 50 ms", async () => {
  // Clients are not heard while the server pauses for them.
  await redis.client("PAUSE", 400, "ALL");
  const ms = await failureMs();
  expect(ms).toBeGreaterThan(40);
  expect(ms).toBeLessThan(1_000);
  await expect.poll(failureMs, { timeout: 5_000 }).toBeUndefined();
});

test("a server that was never there costs an error and not the process", async () => {
  const seen: Error[] = [];
  const nowhere = createRedis("redis://127.0.0.1:1", (error) => seen.push(error));
  await expect(nowhere.get("greeting")).rejects.toThrow(/enableOfflineQueue/);
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  nowhere.disconnect();
});
