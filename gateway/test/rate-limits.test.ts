import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { clientHeaders, management, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { NO_LIMITS, startTestGateway, type TestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const implementations = [
  stubService(ValidationService),
  stubService(VoucherService),
  stubService(CampaignService),
];
const start = (limits: Partial<typeof NO_LIMITS>, redisUrl?: string): Promise<TestGateway> =>
  startTestGateway({ implementations, config: { limits: { ...NO_LIMITS, ...limits }, redisUrl } });

async function callerOf(gateway: TestGateway) {
  const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
  return () => send(`${gateway.url}/v1/vouchers/x`, "GET", { headers });
}

describe("the rate limit of a project", () => {
  test("counts down in the headers and rejects calls until the window ends", async () => {
    await using gateway = await start({ callsPerMinute: 5 });
    const call = await callerOf(gateway);
    // Creating the token counted as the first call.
    for (let remaining = 3; remaining >= 0; remaining -= 1) {
      const { status, headers } = await call();
      expect(status).toBe(501);
      expect(headers.get("x-rate-limit-limit")).toBe("5");
      expect(headers.get("x-rate-limit-remaining")).toBe(String(remaining));
      expect(headers.get("ratelimit-policy")).toBe('"default";q=5;w=60');
      expect(headers.get("ratelimit")).toMatch(new RegExp(`^"default";r=${remaining};t=\\d+$`));
      expect(headers.get("x-rate-limit-type")).toBeNull();
    }
    const now = Math.floor(Date.now() / 1000);
    const { status, headers, json } = await call();
    expect(status).toBe(429);
    expect(json).toEqual({
      code: 429,
      key: "too_many_requests",
      message: "Too many requests hit the API too quickly.",
      request_id: expect.stringMatching(/^v-[0-9a-f]{18}$/),
    });
    expect(headers.get("x-rate-limit-remaining")).toBe("0");
    expect(headers.get("x-rate-limit-type")).toBe("api_calls");
    const wait = Number(headers.get("retry-after"));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(Number(headers.get("x-rate-limit-retry")) - now).toBeGreaterThan(50);
  });

  test("does not affect other projects, and rejected credentials do not count", async () => {
    await using gateway = await start({ callsPerMinute: 2 });
    const call = await callerOf(gateway);
    for (let wrong = 0; wrong < 5; wrong += 1) {
      const key = { ...gateway.keys, appToken: "wrong" };
      expect((await tokenCall(gateway, "token", key, {})).status).toBe(401);
    }
    expect((await call()).status).toBe(501);
    expect((await call()).status).toBe(429);
  });

  test("is in the headers of every response, also before the project is known", async () => {
    await using gateway = await start({ callsPerMinute: 2_000 });
    for (const path of ["/v1/vouchers/x", "/nowhere", "/livez", "/v1/oauth/token"]) {
      const { headers } = await send(gateway.url + path, "GET");
      expect(headers.get("x-rate-limit-limit")).toBe("2000");
      expect(headers.get("x-rate-limit-remaining")).toBe("2000");
      expect(Number(headers.get("x-rate-limit-retry"))).toBeGreaterThan(1_700_000_000);
    }
  });

  test("is shown as unlimited when it is disabled", async () => {
    await using gateway = await start({});
    const { headers } = await (await callerOf(gateway))();
    expect(headers.get("x-rate-limit-limit")).toBe("2147483647");
    expect(headers.get("x-rate-limit-remaining")).toBe("2147483647");
    expect(headers.get("ratelimit")).toBeNull();
  });
});

test("creating several vouchers is a bulk call, creating one is not", async () => {
  await using gateway = await start({ callsPerMinute: 1_000, bulkPerHour: 1 });
  const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
  const make = (query: string) =>
    send(`${gateway.url}/v1/campaigns/x/vouchers${query}`, "POST", { headers, body: {} });
  for (const one of ["", "?vouchers_count=1", "?vouchers_count=1"]) {
    expect((await make(one)).headers.get("x-rate-limit-limit")).toBe("1000");
  }
  const several = await make("?vouchers_count=2");
  expect([several.status, several.headers.get("x-rate-limit-limit")]).toEqual([501, "1"]);
  const rejected = await make("?vouchers_count=2");
  expect([rejected.status, rejected.headers.get("x-rate-limit-type")]).toEqual([
    429,
    "bulk_api_calls",
  ]);
  expect((await make("")).status).toBe(501);
});

test("an address may send five client-side calls in five seconds", async () => {
  await using gateway = await start({ callsPerMinute: 1_000, clientPer5Seconds: 5 });
  const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
  const headers = clientHeaders(client, await newToken(gateway, client, "client_api"));
  const body = { redeemables: [{ object: "voucher", id: "x" }] };
  const call = () => send(`${gateway.url}/client/v1/validations`, "POST", { headers, body });
  for (let made = 0; made < 5; made += 1) expect((await call()).status).toBe(501);
  const rejected = await call();
  expect(rejected).toMatchObject({ status: 429, json: { key: "too_many_requests" } });
  expect(Number(rejected.headers.get("retry-after"))).toBeLessThanOrEqual(5);
  expect(rejected.headers.get("ratelimit-policy")).toBe('"client";q=5;w=5');
  // Server-side calls from the same address are not affected.
  expect((await (await callerOf(gateway))()).status).toBe(501);
});

test("failed logins block further attempts, but not valid credentials", async () => {
  await using gateway = await start({ failuresPerMinute: 10 });
  const call = await callerOf(gateway);
  expect((await call()).status).toBe(501);
  const guess = () =>
    send(`${gateway.url}/v1/vouchers/x`, "GET", {
      headers: serverHeaders(gateway.keys, `guess-${Math.random()}`),
    });
  for (let made = 0; made < 10; made += 1) expect((await guess()).status).toBe(401);
  const rejected = await guess();
  expect(rejected).toMatchObject({ status: 429, json: { key: "too_many_requests" } });
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(50);
  expect((await call()).status).toBe(501);
});

describe("failed logins", () => {
  const path = "/v1/vouchers/x";

  test("an address with too many of them still passes with valid credentials that are not cached", async () => {
    await using gateway = await start({ failuresPerMinute: 5 });
    const unknown = { ...gateway.keys, appId: "app_unknown" };
    const guess = () =>
      send(`${gateway.url}${path}`, "GET", { headers: serverHeaders(unknown, "guess") });
    for (let made = 0; made < 5; made += 1) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    // A new token and its first use are lookups, as is a management call.
    expect((await (await callerOf(gateway))()).status).toBe(501);
    expect((await management(gateway, "GET", "/projects")).status).toBe(200);
  });

  test("of one key id are limited from any number of addresses", async () => {
    await using gateway = await startTestGateway({
      implementations,
      config: { limits: { ...NO_LIMITS, failuresPerMinute: 5 }, trustedProxies: 1 },
    });
    let address = 0;
    const guess = () =>
      send(`${gateway.url}${path}`, "GET", {
        headers: {
          ...serverHeaders(gateway.keys, `guess-${Math.random()}`),
          "x-forwarded-for": `192.0.2.${(address += 1)}`,
        },
      });
    for (let made = 0; made < 5; made += 1) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
  });

  test("a revoked token is unauthorized and never counts", async () => {
    await using gateway = await start({ failuresPerMinute: 5 });
    const token = await newToken(gateway, gateway.keys, "api");
    const form = { access_token: token };
    expect((await tokenCall(gateway, "token/revoke", gateway.keys, form)).status).toBe(204);
    const headers = serverHeaders(gateway.keys, token);
    const statuses = new Set<number>();
    for (let made = 0; made < 30; made += 1) {
      statuses.add((await send(`${gateway.url}${path}`, "GET", { headers })).status);
    }
    expect([...statuses]).toEqual([401]);
    expect((await (await callerOf(gateway))()).status).toBe(501);
  });
});
