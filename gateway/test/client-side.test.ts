import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { allowPages, clientHeaders, newToken, send } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { standIn } from "./service-stubs.ts";

const gateway = await startTestGateway({
  implementations: [standIn(ValidationService), standIn(VoucherService)],
  keys: { trustedDomains: ["https://shop.example", "http://localhost:3000", "other.example"] },
});
afterAll(() => gateway[Symbol.asyncDispose]());
const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
const token = await newToken(gateway, client, "client_api");
const PATH = `${gateway.url}/client/v1/validations`;
const body = { redeemables: [{ object: "voucher", id: "x" }] };

describe("the origin of a client request", () => {
  test.each([
    "https://shop.example",
    "https://SHOP.example",
    "http://localhost:3000",
    "https://other.example",
    "http://other.example:8080",
  ])("%s is trusted, and its page may read the answer", async (origin) => {
    const headers = clientHeaders(client, token, origin);
    const answer = await send(PATH, "POST", { headers, body });
    expect(answer.status).toBe(501);
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("vary")).toBe("Origin");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    expect(answer.headers.get("access-control-expose-headers")).toMatch(/X-Request-Id/);
  });

  test.each([
    "http://shop.example",
    "https://shop.example:8443",
    "https://shop.example.evil.example",
    "https://sub.shop.example",
    "http://localhost:3001",
    "null",
    "other.example",
  ])("%s is refused, and its page may not read why", async (origin) => {
    const headers = clientHeaders(client, token, origin);
    const answer = await send(PATH, "POST", { headers, body });
    expect(answer).toMatchObject({
      status: 403,
      json: { key: "forbidden", details: `Origin ${origin} is not trusted` },
    });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("has to be there", async () => {
    const { Origin: _, ...headers } = clientHeaders(client, token);
    expect(await send(PATH, "POST", { headers, body })).toMatchObject({
      status: 403,
      json: { key: "forbidden", details: "Header origin is required" },
    });
  });

  test("of a request without good credentials may read that they are wrong", async () => {
    const headers = clientHeaders(client, "garbage");
    const answer = await send(PATH, "POST", { headers, body });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://shop.example");
  });
});

test("no origin but a real one is reflected, whatever the project trusts", async () => {
  await using open = await startTestGateway({
    implementations: [standIn(ValidationService)],
    keys: { trustedDomains: ["*"] },
  });
  const { clientAppId: appId, clientToken: appToken } = open.keys;
  const own = { appId, appToken };
  const ownToken = await newToken(open, own, "client_api");
  const url = `${open.url}/client/v1/validations`;
  for (const origin of ["null", "shop.example"]) {
    for (const given of [ownToken, "garbage"]) {
      const headers = clientHeaders(own, given, origin);
      const answer = await send(url, "POST", { headers, body });
      expect(answer.status).toBe(given === ownToken ? 403 : 401);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
    const headers = { Origin: origin, "Access-Control-Request-Method": "POST" };
    const preflight = await send(url, "OPTIONS", { headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(preflight.headers.get("access-control-allow-methods")).toBeNull();
  }
  const trusted = await send(url, "POST", { headers: clientHeaders(own, ownToken), body });
  expect(trusted.status).toBe(501);
});

test("pages redeem only where the project allows it", async () => {
  const url = `${gateway.url}/client/v1/redemptions`;
  const redeem = () => send(url, "POST", { headers: clientHeaders(client, token), body });
  expect(await redeem()).toMatchObject({
    status: 403,
    json: {
      key: "forbidden",
      details: "The project does not allow it: client_redeem_enabled is false",
    },
  });
  await allowPages(gateway, { client_redeem_enabled: true });
  expect((await redeem()).status).toBe(501);
  await allowPages(gateway, { client_redeem_enabled: false });
  expect((await redeem()).status).toBe(403);
});

test("a preflight is answered without credentials", async () => {
  const answer = await send(PATH, "OPTIONS", {
    headers: {
      Origin: "https://shop.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,x-client-token",
    },
  });
  expect(answer).toMatchObject({ status: 204, text: "" });
  const { headers } = answer;
  expect(headers.get("access-control-allow-origin")).toBe("https://shop.example");
  expect(headers.get("access-control-allow-methods")).toBe("POST");
  expect(headers.get("access-control-allow-headers")).toMatch(/X-Client-Application-Id/);
  expect(headers.get("access-control-max-age")).toBe("600");
  expect(headers.get("vary")).toBe("Origin");
});

test("the server side is closed to pages", async () => {
  const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
  for (const method of ["OPTIONS", "POST"]) {
    const answer = await send(`${gateway.url}/v1/vouchers`, method, { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  }
});
