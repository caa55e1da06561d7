import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { enableClientFeatures, clientHeaders, newToken, send } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const gateway = await startTestGateway({
  implementations: [stubService(ValidationService), stubService(VoucherService)],
  keys: { trustedDomains: ["https://shop.example", "http://localhost:3000", "other.example"] },
});
afterAll(() => gateway[Symbol.asyncDispose]());
const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
const token = await newToken(gateway, client, "client_api");
const PATH = `${gateway.url}/client/v1/validations`;
const body = { redeemables: [{ object: "voucher", id: "x" }] };

describe("the origin of a client-side request", () => {
  test.each([
    "https://shop.example",
    "https://SHOP.example",
    "http://localhost:3000",
    "https://other.example",
    "http://other.example:8080",
  ])("%s is trusted and may read the response", async (origin) => {
    const headers = clientHeaders(client, token, origin);
    const response = await send(PATH, "POST", { headers, body });
    expect(response.status).toBe(501);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("vary")).toBe("Origin");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("access-control-expose-headers")).toMatch(/X-Request-Id/);
  });

  test.each([
    "http://shop.example",
    "https://shop.example:8443",
    "https://shop.example.evil.example",
    "https://sub.shop.example",
    "http://localhost:3001",
    "null",
    "other.example",
  ])("%s is rejected and may not read the response", async (origin) => {
    const headers = clientHeaders(client, token, origin);
    const response = await send(PATH, "POST", { headers, body });
    expect(response).toMatchObject({
      status: 403,
      json: { key: "forbidden", details: `Origin ${origin} is not trusted` },
    });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is required", async () => {
    const { Origin: _, ...headers } = clientHeaders(client, token);
    expect(await send(PATH, "POST", { headers, body })).toMatchObject({
      status: 403,
      json: { key: "forbidden", details: "Header origin is required" },
    });
  });

  test("may read the rejection of invalid credentials", async () => {
    const headers = clientHeaders(client, "garbage");
    const response = await send(PATH, "POST", { headers, body });
    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");
  });
});

test("only a real origin is reflected, whatever the project trusts", async () => {
  await using open = await startTestGateway({
    implementations: [stubService(ValidationService)],
    keys: { trustedDomains: ["*"] },
  });
  const { clientAppId: appId, clientToken: appToken } = open.keys;
  const own = { appId, appToken };
  const ownToken = await newToken(open, own, "client_api");
  const url = `${open.url}/client/v1/validations`;
  for (const origin of ["null", "shop.example"]) {
    for (const given of [ownToken, "garbage"]) {
      const headers = clientHeaders(own, given, origin);
      const response = await send(url, "POST", { headers, body });
      expect(response.status).toBe(given === ownToken ? 403 : 401);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
    const headers = { Origin: origin, "Access-Control-Request-Method": "POST" };
    const preflight = await send(url, "OPTIONS", { headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(preflight.headers.get("access-control-allow-methods")).toBeNull();
  }
  const trusted = await send(url, "POST", { headers: clientHeaders(own, ownToken), body });
  expect(trusted.status).toBe(501);
});

test("client-side callers redeem only where the project allows it", async () => {
  const url = `${gateway.url}/client/v1/redemptions`;
  const redeem = () => send(url, "POST", { headers: clientHeaders(client, token), body });
  expect(await redeem()).toMatchObject({
    status: 403,
    json: {
      key: "forbidden",
      details: "The project does not allow it: client_redeem_enabled is false",
    },
  });
  await enableClientFeatures(gateway, { client_redeem_enabled: true });
  expect((await redeem()).status).toBe(501);
  await enableClientFeatures(gateway, { client_redeem_enabled: false });
  expect((await redeem()).status).toBe(403);
});

test("a preflight needs no credentials", async () => {
  const response = await send(PATH, "OPTIONS", {
    headers: {
      Origin: "https://shop.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,x-client-token",
    },
  });
  expect(response).toMatchObject({ status: 204, text: "" });
  const { headers } = response;
  expect(headers.get("access-control-allow-origin")).toBe("https://shop.example");
  expect(headers.get("access-control-allow-methods")).toBe("POST");
  expect(headers.get("access-control-allow-headers")).toMatch(/X-Client-Application-Id/);
  expect(headers.get("access-control-max-age")).toBe("600");
  expect(headers.get("vary")).toBe("Origin");
});

test("server-side endpoints do not support CORS", async () => {
  const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
  for (const method of ["OPTIONS", "POST"]) {
    const response = await send(`${gateway.url}/v1/vouchers`, method, { headers });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  }
});
