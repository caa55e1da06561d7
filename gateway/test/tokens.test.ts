import { afterAll, expect, test } from "vitest";

import { newToken, tokenCall } from "./http.ts";
import { startTestGateway } from "./start.ts";

const gateway = await startTestGateway();
afterAll(() => gateway[Symbol.asyncDispose]());
const key = gateway.keys;
const grant = { grant_type: "client_credentials" };

test("a key gets a token that lives for a quarter of an hour", async () => {
  const before = Math.floor(Date.now() / 1000);
  const { status, headers, json } = await tokenCall(gateway, "token", key, {
    ...grant,
    scope: "api SKUs",
  });
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(json).toEqual({
    access_token: expect.stringMatching(/^scrip_at_[\w-]{43}$/),
    client_id: key.appId,
    expires_at: expect.any(Number),
    expires_in: 900,
    scope: "api SKUs",
    token_type: "Bearer",
  });
  expect(json.expires_at - before).toBeGreaterThanOrEqual(900);
  expect(json.expires_at - before).toBeLessThan(905);
});

test("a live token is introspected with what is left of it", async () => {
  const token = await newToken(gateway, key, "vouchers");
  const { status, json } = await tokenCall(gateway, "introspect", key, { access_token: token });
  expect(status).toBe(200);
  expect(json).toEqual({
    access_token: token,
    client_id: key.appId,
    expires_at: expect.any(Number),
    expires_in: expect.any(Number),
    scope: "vouchers",
    token_type: "Bearer",
    active: true,
  });
});
