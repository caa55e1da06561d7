import { once } from "node:events";

import { notFound } from "@scrip/errors";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createRedis } from "@scrip/redis";
import { testRedis } from "@scrip/testing";
import { describe, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { NO_LIMITS, startTestGateway, type TestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const implementations = [
  stubService(ValidationService, {}, async () => {
    throw notFound("voucher", "x");
  }),
  stubService(VoucherService),
  stubService(CampaignService),
];
const start = (limits: Partial<typeof NO_LIMITS>, redisUrl?: string): Promise<TestGateway> =>
  startTestGateway({ implementations, config: { limits: { ...NO_LIMITS, ...limits }, redisUrl } });

async function callerOf(gateway: TestGateway) {
  const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
  return () => send(`${gateway.url}/v1/vouchers/x`, "GET", { headers });
}

describe("rate limits with Redis", () => {
  test("replicas share their counts", async () => {
    await using redis = await testRedis();
    // More than the process could count alone.
    const limit = 1_000_000;
    await using gateway = await start({ callsPerMinute: limit }, redis.url);
    await ready(redis.url);
    const begunAt = Date.now();
    const call = await callerOf(gateway);
    const other = await connect(redis.url);
    let key = "";
    // A call that Redis does not answer in time is counted by the process alone.
    const remainingOfAll = async (): Promise<number> => {
      const { headers } = await call();
      const keys = await other.keys("scrip:call:*");
      expect(keys).toHaveLength(1);
      [key = ""] = keys;
      return Number(headers.get("x-rate-limit-remaining")) + Number(await other.get(key));
    };
    await expect.poll(remainingOfAll).toBe(limit);
    // The count of another replica.
    await other.incrby(key, limit);
    other.disconnect();
    let rejected = await call();
    await expect.poll(async () => (rejected = await call()).status).toBe(429);
    const retryAfterMs = Number(rejected.headers.get("retry-after")) * 1_000;
    expect(retryAfterMs).toBeGreaterThanOrEqual(60_000 - (Date.now() - begunAt));
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test("each process counts alone and without delay while Redis is unavailable", async () => {
    await using redis = await testRedis();
    await using gateway = await start({ callsPerMinute: 1_000 }, redis.url);
    const call = await callerOf(gateway);
    for (let warm = 0; warm < 20; warm += 1) await call();
    await redis.kill();
    let shortest = Infinity;
    for (let made = 0; made < 200; made += 1) {
      const begun = performance.now();
      const { status, headers } = await call();
      shortest = Math.min(shortest, performance.now() - begun);
      expect(status).toBe(501);
      expect(headers.get("x-rate-limit-limit")).toBe("1000");
    }
    // Waiting for Redis would add 50 ms to each call; the shortest call shows it on a busy machine too.
    expect(shortest).toBeLessThan(40);
    expect(await gateway.metrics.text()).toMatch(/^limiter_fallbacks_total [1-9]/m);

    await redis.restart();
    const other = await connect(redis.url);
    const counted = async (): Promise<string[]> => {
      await call();
      return other.keys("scrip:call:*");
    };
    await expect.poll(counted, { timeout: 60_000 }).toHaveLength(1);
    other.disconnect();
  }, 120_000);
});

describe("unknown codes with Redis", () => {
  test("the misses of replicas are added up per address and per key, and each process counts alone without Redis", async () => {
    await using redis = await testRedis();
    await using gateway = await start(
      { codeMisses: 100, serverCodeMisses: 100, keyCodeMisses: 200 },
      redis.url,
    );
    await ready(redis.url);
    const headers = {
      ...serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api")),
      "content-type": "application/json",
    };
    const miss = async (): Promise<number> =>
      (await send(`${gateway.url}/v1/vouchers/x/validate`, "POST", { headers, body: "{}" })).status;
    expect(await miss()).toBe(404);
    const other = await connect(redis.url);
    const counters = async () =>
      (await other.keys("scrip:misses:*")).toSorted((one, two) => one.length - two.length);
    await expect.poll(counters).toHaveLength(2);
    const [ofKey = ""] = await counters();
    expect(ofKey).toMatch(new RegExp(`^scrip:misses:${gateway.keys.appId}$`));
    expect(await other.ttl(ofKey)).toBeGreaterThan(200);
    // The misses of other replicas, from other addresses. The next miss here reaches the limit.
    await other.incrby(ofKey, 198);
    expect(await miss()).toBe(404);
    await expect.poll(miss).toBe(429);
    expect(await gateway.metrics.text()).toMatch(
      /^code_guessing_blocks_total\{side="server",scope="key"\} 1$/m,
    );
    other.disconnect();
  });
});

async function connect(url: string) {
  const redis = await createRedis(url, () => {});
  // This client may wait: the machine is busy with tests.
  redis.options.commandTimeout = 30_000;
  await once(redis, "ready");
  return redis;
}

/** Resolves when the gateway has connected: ioredis sends INFO before it uses a connection. */
async function ready(url: string): Promise<void> {
  const other = await connect(url);
  const others = async (): Promise<number> => {
    const list = (await other.client("LIST")) as string;
    return list.match(/ cmd=info /g)?.length ?? 0;
  };
  await expect.poll(others, { timeout: 60_000 }).toBeGreaterThan(0);
  other.disconnect();
  await new Promise((resolve) => setTimeout(resolve, 100));
}
