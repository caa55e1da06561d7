import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { type KeyPair, management, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices } from "./service-stubs.ts";

const gateway = await startTestGateway({ implementations: stubAllServices() });
afterAll(() => gateway[Symbol.asyncDispose]());
const key = gateway.keys;
const grant = { grant_type: "client_credentials" };

test("CreateToken returns a token that is valid for 15 minutes", async () => {
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
  expect(json.expires_at - before).toBeLessThan(1_000);
});

test("IntrospectToken returns the remaining lifetime of a live token", async () => {
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

const emptied = (token: string) => ({
  access_token: token,
  client_id: "",
  expires_at: 0,
  expires_in: 0,
  scope: "",
  token_type: "Bearer",
  active: false,
});

test("IntrospectToken returns an unknown token as inactive with empty fields", async () => {
  const { status, json } = await tokenCall(gateway, "introspect", key, { access_token: "nobody" });
  expect(status).toBe(200);
  expect(json).toEqual(emptied("nobody"));
});

test("RevokeToken deactivates a token immediately, and returns 404 when repeated", async () => {
  const token = await newToken(gateway, key, "api");
  const headers = serverHeaders(key, token);
  const path = `${gateway.url}/v1/vouchers/x`;
  expect((await send(path, "GET", { headers })).status).toBe(501);

  const revoked = await tokenCall(gateway, "token/revoke", key, { access_token: token });
  expect(revoked).toMatchObject({ status: 204, text: "" });
  expect(revoked.headers.get("content-length")).toBeNull();
  expect((await send(path, "GET", { headers })).status).toBe(401);
  const seen = await tokenCall(gateway, "introspect", key, { access_token: token });
  expect(seen.json).toEqual(emptied(token));

  const again = await tokenCall(gateway, "token/revoke", key, { access_token: token });
  expect(again).toMatchObject({ status: 404, text: "" });
  expect(again.headers.get("x-request-id")).toMatch(/^v-[0-9a-f]{18}$/);
});

test("a token of another project is treated as unknown", async () => {
  const { json } = await management(gateway, "POST", "/projects", { name: "Other" });
  const other = { appId: json.server_side_key.app_id, appToken: json.server_side_key.app_token };
  const token = await newToken(gateway, key, "api");
  const seen = await tokenCall(gateway, "introspect", other, { access_token: token });
  expect(seen.json).toEqual(emptied(token));
  expect((await tokenCall(gateway, "token/revoke", other, { access_token: token })).status).toBe(
    404,
  );
  const own = await tokenCall(gateway, "introspect", key, { access_token: token });
  expect(own.json.active).toBe(true);
});

test.each([
  ["grant_type", { scope: "api" }, "missing_parameters"],
  ["scope", grant, "missing_parameters"],
  ["everything", {}, "missing_parameters"],
  ["a grant type that exists", { grant_type: "password", scope: "api" }, "invalid_grant_type"],
  ["a known scope", { ...grant, scope: "nope" }, "invalid_scope"],
])(
  "CreateToken rejects a request without %s",
  async (_name, form: Record<string, string>, expected) => {
    expect(await tokenCall(gateway, "token", key, form)).toMatchObject({
      status: 400,
      json: { code: 400, key: expected },
    });
  },
);

test.each(["introspect", "token/revoke"] as const)("%s requires a token", async (endpoint) => {
  expect(await tokenCall(gateway, endpoint, key, {})).toMatchObject({
    status: 400,
    json: { key: "missing_parameters" },
  });
});

test.each([
  ["a parameter that comes twice", "grant_type=client_credentials&scope=api&scope=api", 400],
  ["10,000 scopes", `grant_type=client_credentials&scope=${"vouchers+".repeat(10_000)}`, 413],
  ["1 MiB", `grant_type=client_credentials&scope=api&x=${"a".repeat(1_048_576)}`, 413],
  ["more than 8 KiB", `grant_type=client_credentials&scope=${"a".repeat(9_000)}`, 413],
  ["broken escapes", "grant_type=client_credentials&scope=%zz", 400],
])("rejects a form with %s", async (_name, body, status) => {
  const response = await send(`${gateway.url}/v1/oauth/token`, "POST", {
    headers: {
      "X-App-Id": key.appId,
      "X-App-Token": key.appToken,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body,
  });
  expect(response.status).toBe(status);
  expect(response.json.request_id).toMatch(/^v-/);
});

test("rejects a JSON body at a token endpoint", async () => {
  const response = await send(`${gateway.url}/v1/oauth/token`, "POST", {
    headers: { "X-App-Id": key.appId, "X-App-Token": key.appToken },
    body: { ...grant, scope: "api" },
  });
  expect(response).toMatchObject({ status: 415, json: { key: "unsupported_media_type" } });
});

test("ignores form parameters in the query string", async () => {
  const headers = { "X-App-Id": key.appId, "X-App-Token": key.appToken };
  const url = `${gateway.url}/v1/oauth/token?grant_type=client_credentials&scope=api`;
  for (const body of [undefined, new URLSearchParams({ scope: "api" })]) {
    const response = await send(url, "POST", { headers, ...(body !== undefined && { body }) });
    expect(response).toMatchObject({ status: 400, json: { code: 400 } });
    expect(response.text).not.toContain("access_token");
  }
});

test("an expired token is rejected, also when it is cached", async () => {
  // The database uses its own clock, by which the token lives a minute longer.
  let now = Date.now() + 60_000;
  await using brief = await startTestGateway({
    implementations: stubAllServices(),
    tokenSeconds: 2,
    clock: () => now,
  });
  const token = await newToken(brief, brief.keys, "api");
  const headers = serverHeaders(brief.keys, token);
  expect((await send(`${brief.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(501);
  now += 2_001;
  await asAdmin(brief.databaseUrl, (client) =>
    client.query("update gateway.access_token set expires_at = now()"),
  );
  expect((await send(`${brief.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
});

test("a project has at most 1,000 live tokens; the oldest is deleted first", async () => {
  const { json } = await management(gateway, "POST", "/projects", { name: "Many" });
  const many = { appId: json.server_side_key.app_id, appToken: json.server_side_key.app_token };
  const first = await newToken(gateway, many, "api");
  const second = await newToken(gateway, many, "api");
  expect(await active(many, first)).toBe(true);
  await asAdmin(gateway.databaseUrl, (client) =>
    client.query(
      `insert into gateway.access_token (token_hash, project_id, key_id, scope, expires_at)
       select sha256(convert_to('token ' || n, 'UTF8')), $1, $2, 'api', now() + interval '10 minutes'
         from generate_series(3, 999) n`,
      [json.id, many.appId],
    ),
  );
  await newToken(gateway, many, "api");
  expect(await active(many, first)).toBe(true);
  await newToken(gateway, many, "api");
  expect(await active(many, first)).toBe(false);
  expect(await active(many, second)).toBe(true);
});

async function active(owner: KeyPair, token: string): Promise<boolean> {
  const { json } = await tokenCall(gateway, "introspect", owner, { access_token: token });
  return json.active;
}
