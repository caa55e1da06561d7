import { afterAll, describe, expect, test } from "vitest";

import { clientHeaders, management, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices } from "./service-stubs.ts";

const gateway = await startTestGateway({ implementations: stubAllServices() });
afterAll(() => gateway[Symbol.asyncDispose]());

const server = gateway.keys;
const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
const SERVER_PATH = `${gateway.url}/v1/vouchers/x`;
const CLIENT_PATH = `${gateway.url}/client/v1/validations`;
/** The stubs respond with this status to every request that was passed on. */
const LET_IN = 501;

const token = await newToken(gateway, server, "api");
const good = serverHeaders(server, token);
const clientToken = await newToken(gateway, client, "client_api");
const goodClient = clientHeaders(client, clientToken);

const without = (headers: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));

const flip = (text: string): string => (text.endsWith("A") ? "B" : "A").padStart(1) + text.slice(1);
const flipLast = (text: string): string => text.slice(0, -1) + (text.endsWith("A") ? "B" : "A");

async function otherProject() {
  const { json } = await management(gateway, "POST", "/projects", { name: "Other" });
  const key = { appId: json.server_side_key.app_id, appToken: json.server_side_key.app_token };
  return { key, token: await newToken(gateway, key, "api") };
}
const other = await otherProject();

async function secondKey() {
  const { json: list } = await management(gateway, "GET", "/projects?limit=100");
  const own = list.data.find((each: { name: string }) => each.name !== "Other");
  const { json } = await management(gateway, "POST", `/projects/${own.id}/api-keys`, {
    name: "second",
    kind: "server",
  });
  const key = { appId: json.app_id, appToken: json.app_token };
  return { key, token: await newToken(gateway, key, "api") };
}
const second = await secondKey();

describe("server-side credentials", () => {
  test("are accepted when all three headers are present", async () => {
    expect((await send(SERVER_PATH, "GET", { headers: good })).status).toBe(LET_IN);
  });

  test.each([
    ["no header at all", {}],
    ["no X-App-Id", without(good, "X-App-Id")],
    ["no X-App-Token", without(good, "X-App-Token")],
    ["no Authorization", without(good, "Authorization")],
    ["an empty X-App-Token", { ...good, "X-App-Token": "" }],
    ["another scheme", { ...good, Authorization: `Basic ${token}` }],
    ["a bare token", { ...good, Authorization: token }],
    ["no token after the scheme", { ...good, Authorization: "Bearer " }],
    ["a garbage token", { ...good, Authorization: "Bearer garbage" }],
    ["a token with another first character", { ...good, Authorization: `Bearer ${flip(token)}` }],
    [
      "a token with another last character",
      { ...good, Authorization: `Bearer ${flipLast(token)}` },
    ],
    ["a secret with another last character", { ...good, "X-App-Token": flipLast(server.appToken) }],
    ["an unknown key", { ...good, "X-App-Id": "app_unknown" }],
    ["a very long key", { ...good, "X-App-Id": "a".repeat(5_000) }],
    ["a very long token", { ...good, Authorization: `Bearer ${"a".repeat(5_000)}` }],
    ["two tokens", { ...good, Authorization: `Bearer ${token}, Bearer ${token}` }],
    ["another project's token", { ...good, Authorization: `Bearer ${other.token}` }],
    ["another project's key", serverHeaders(other.key, token)],
    ["another key's token", { ...good, Authorization: `Bearer ${second.token}` }],
    ["the client key in server headers", serverHeaders(client, clientToken)],
    ["client headers", goodClient],
    ["management headers", { "X-Management-Id": "a", "X-Management-Token": "b" }],
  ])("are rejected: %s", async (_name, headers: Record<string, string>) => {
    const { status, headers: answered, json } = await send(SERVER_PATH, "GET", { headers });
    expect(status).toBe(401);
    expect(json).toEqual({
      code: 401,
      key: "unauthorized",
      message: "Unauthorized",
      request_id: expect.stringMatching(/^v-[0-9a-f]{18}$/),
    });
    expect(answered.get("x-request-id")).toBe(json.request_id);
    expect(answered.get("www-authenticate")).toBe("Bearer");
  });

  test("accept the scheme in any case, and a token with the key that requested it", async () => {
    const lower = { ...good, Authorization: `bearer ${token}` };
    expect((await send(SERVER_PATH, "GET", { headers: lower })).status).toBe(LET_IN);
    const both = serverHeaders(second.key, second.token);
    expect((await send(SERVER_PATH, "GET", { headers: both })).status).toBe(LET_IN);
  });
});

describe("client-side credentials", () => {
  const post = (headers: Record<string, string>) =>
    send(CLIENT_PATH, "POST", { headers, body: { redeemables: [{ object: "voucher", id: "x" }] } });

  test("are accepted with a trusted origin", async () => {
    expect((await post(goodClient)).status).toBe(LET_IN);
  });

  test("accept a client token that a server key requested", async () => {
    const handedOut = await newToken(gateway, server, "client_validations");
    expect((await post(clientHeaders(client, handedOut))).status).toBe(LET_IN);
  });

  test.each([
    ["no header but the origin", { Origin: "https://shop.example" }],
    ["no client token", without(goodClient, "X-Client-Token")],
    ["no bearer token", without(goodClient, "Authorization")],
    ["the server key in client headers", clientHeaders(server, token)],
    ["another project's token", clientHeaders(client, other.token)],
    ["server headers", good],
  ])("are rejected: %s", async (_name, headers: Record<string, string>) => {
    expect(await post(headers)).toMatchObject({ status: 401, json: { key: "unauthorized" } });
  });

  test("are rejected with a token without client scopes", async () => {
    expect(await post(clientHeaders(client, token))).toMatchObject({
      status: 403,
      json: { key: "missing_required_permission" },
    });
  });
});

describe("credentials of the token endpoints", () => {
  test.each([
    ["the wrong secret", { ...server, appToken: flipLast(server.appToken) }],
    ["another key's secret", { ...server, appToken: client.appToken }],
    ["an unknown key", { ...server, appId: "app_unknown" }],
  ])("are rejected: %s", async (_name, key) => {
    for (const endpoint of ["token", "introspect", "token/revoke"] as const) {
      const response = await tokenCall(gateway, endpoint, key, {
        grant_type: "client_credentials",
        scope: "api",
        access_token: token,
      });
      expect(response).toMatchObject({ status: 401, json: { key: "unauthorized" } });
    }
  });
});

describe("management credentials", () => {
  test.each([
    ["nothing", {}],
    ["the id alone", { "X-Management-Id": "management-test" }],
    ["a wrong token", { "X-Management-Id": "management-test", "X-Management-Token": "wrong" }],
    ["the server side's credentials", good],
  ])("are rejected: %s", async (_name, headers: Record<string, string>) => {
    const response = await send(`${gateway.url}/management/v1/projects`, "GET", { headers });
    expect(response).toMatchObject({ status: 401, json: { key: "unauthorized" } });
  });
});

test("a key can be restricted to IP addresses", async () => {
  const { json: list } = await management(gateway, "GET", "/projects?limit=100");
  const make = async (allowed: string[]) => {
    const { json } = await management(gateway, "POST", `/projects/${list.data[0].id}/api-keys`, {
      name: "limited",
      kind: "server",
      allowed_ips: allowed,
    });
    return { appId: json.app_id, appToken: json.app_token };
  };
  const outside = await make(["10.0.0.0/8", "2001:db8::/32"]);
  const rejected = await tokenCall(gateway, "token", outside, {
    grant_type: "client_credentials",
    scope: "api",
  });
  expect(rejected).toMatchObject({
    status: 403,
    json: { key: "forbidden", details: "Address 127.0.0.1 is not allowed" },
  });
  const inside = await make(["10.0.0.0/8", "127.0.0.0/8"]);
  const allowed = serverHeaders(inside, await newToken(gateway, inside, "api"));
  expect((await send(SERVER_PATH, "GET", { headers: allowed })).status).toBe(LET_IN);
});
