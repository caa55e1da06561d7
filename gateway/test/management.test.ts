import { ApiError } from "@scrip/errors";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { clientHeaders, management, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { standIn } from "./service-stubs.ts";

const calls: Call[] = [];
const remember = async (_request: never, call: Call): Promise<never> => {
  calls.push(call);
  throw new ApiError("not_implemented");
};
const gateway = await startTestGateway({
  implementations: [
    standIn(VoucherService, {}, remember),
    standIn(ValidationService, {}, remember),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());

const create = async (body: object) => {
  const { status, text, json } = await management(gateway, "POST", "/projects", body);
  expect({ status, text }).toMatchObject({ status: 200 });
  return {
    id: json.id as string,
    json,
    server: { appId: json.server_side_key.app_id, appToken: json.server_side_key.app_token },
    client: { appId: json.client_side_key.app_id, appToken: json.client_side_key.app_token },
  };
};

/** The call that a request of the project makes. */
async function callOf(key: { appId: string; appToken: string }): Promise<Call> {
  const headers = serverHeaders(key, await newToken(gateway, key, "api"));
  expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(501);
  const call = calls.at(-1);
  if (call === undefined) throw new Error("nothing was called");
  return call;
}

describe("a project", () => {
  test("is made with two keys that are shown once", async () => {
    const { id, json, server } = await create({
      name: "Shop",
      timezone: "Europe/Warsaw",
      first_weekday: 0,
      currency: "PLN",
      case_sensitive_codes: false,
      default_code_config: { length: 12, prefix: "S-" },
      client_trusted_domains: ["https://Shop.example"],
      client_redeem_enabled: true,
    });
    expect(json).toMatchObject({
      object: "project",
      id: expect.stringMatching(/^proj_[0-9a-f]{18}$/),
      name: "Shop",
      description: null,
      timezone: "Europe/Warsaw",
      first_weekday: 0,
      currency: "PLN",
      case_sensitive_codes: false,
      default_code_config: { length: 12, prefix: "S-" },
      client_trusted_domains: ["https://shop.example"],
      client_redeem_enabled: true,
      client_publish_enabled: false,
      sandbox: false,
      now: null,
      updated_at: null,
    });
    const { json: seen } = await management(gateway, "GET", `/projects/${id}`);
    expect(seen).not.toHaveProperty("server_side_key");
    expect(seen).not.toHaveProperty("client_side_key");
    const { project } = await callOf(server);
    expect(project).toEqual({
      id,
      timeZone: "Europe/Warsaw",
      firstWeekday: 0,
      caseSensitiveCodes: false,
      codeConfig: JSON.stringify({ length: 12, prefix: "S-" }),
    });
  });

  test("begins its weeks on Monday unless it says otherwise", async () => {
    const { id, json } = await create({ name: "Weeks" });
    const change = async (first_weekday: number | null) =>
      (await management(gateway, "PUT", `/projects/${id}`, { first_weekday })).json;
    expect([json.first_weekday, await change(6), await change(null)]).toMatchObject([
      1,
      { name: "Weeks", first_weekday: 6 },
      { first_weekday: 1 },
    ]);
  });

  test.each([
    [{}, "Payload should have required property 'name'"],
    [{ name: "x", timezone: "Mars/Olympus" }, /\.timezone must be/],
    [{ name: "x", first_weekday: 7 }, /\.first_weekday/],
    [{ name: "x", currency: "XXQ" }, /\.currency must be an ISO 4217 code/],
    [{ name: "x", currency: "pln" }, /\.currency/],
    [{ name: "x", client_trusted_domains: ["ok.example", "no spaces"] }, /domains\[1\] must be/],
    [{ name: 5 }, "Property .name must be string"],
  ])("is not made from %j", async (body, details) => {
    const { status, json } = await management(gateway, "POST", "/projects", body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ key: "invalid_payload", details: expect.stringMatching(details) });
  });

  test.each(["GMT+2", "GMT-3:30", "UTC", "America/New_York"])(
    "may live in %s",
    async (timezone) => {
      const { json } = await create({ name: "x", timezone });
      expect(json.timezone).toBe(timezone);
    },
  );

  test("changes in the fields that are sent, and null clears one", async () => {
    const { id, server } = await create({
      name: "Before",
      description: "d",
      currency: "EUR",
      client_publish_enabled: true,
      case_sensitive_codes: false,
    });
    await callOf(server);
    const { status, json } = await management(gateway, "PUT", `/projects/${id}`, {
      id,
      name: "After",
      description: null,
      timezone: "Asia/Kolkata",
      client_redeem_enabled: true,
      case_sensitive_codes: true,
      sandbox: true,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      name: "After",
      description: null,
      currency: "EUR",
      timezone: "Asia/Kolkata",
      client_redeem_enabled: true,
      client_publish_enabled: true,
      case_sensitive_codes: false,
      sandbox: false,
      updated_at: expect.stringMatching(/Z$/),
    });
    // Shown at once, although the project was remembered.
    expect((await callOf(server)).project.timeZone).toBe("Asia/Kolkata");
  });

  test("is listed newest first, a page at a time", async () => {
    const one = await create({ name: "list-1" });
    const two = await create({ name: "list-2" });
    const { json } = await management(gateway, "GET", "/projects?limit=2");
    expect(json).toMatchObject({ object: "list", data_ref: "projects" });
    expect(json.projects.map(({ id }: { id: string }) => id)).toEqual([two.id, one.id]);
    expect(json.total).toBeGreaterThan(2);
    const { json: far } = await management(gateway, "GET", "/projects?page=100&limit=100");
    expect(far).toMatchObject({ projects: [], total: json.total });
    const over = await management(gateway, "GET", "/projects?limit=101");
    expect(over).toMatchObject({
      status: 400,
      json: { key: "invalid_query_params", details: "Property .limit cannot be higher than 100" },
    });
  });

  test("takes its keys and tokens with it when it is deleted", async () => {
    const { id, server } = await create({ name: "Short" });
    const headers = serverHeaders(server, await newToken(gateway, server, "api"));
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(501);
    expect((await management(gateway, "DELETE", `/projects/${id}`)).status).toBe(204);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
    const form = { grant_type: "client_credentials", scope: "api" };
    expect((await tokenCall(gateway, "token", server, form)).status).toBe(401);
    for (const [method, body] of [["GET"], ["PUT", { name: "x" }], ["DELETE"]] as const) {
      expect(await management(gateway, method, `/projects/${id}`, body)).toMatchObject({
        status: 404,
        json: { key: "not_found", resource_type: "project", resource_id: id },
      });
    }
  });
});

describe("the clock of a sandbox", () => {
  test("is what its calls see until it returns to real time", async () => {
    const { id, server } = await create({ name: "Sandbox", sandbox: true });
    const before = Date.now();
    expect((await callOf(server)).now).toBeGreaterThanOrEqual(before);
    const moved = await management(gateway, "PUT", `/projects/${id}/clock`, {
      now: "2030-02-28T12:00:00+01:00",
    });
    expect(moved).toMatchObject({ status: 200, json: { now: "2030-02-28T11:00:00.000Z" } });
    expect((await callOf(server)).now).toBe(Date.parse("2030-02-28T11:00:00Z"));
    const back = await management(gateway, "PUT", `/projects/${id}/clock`, { now: null });
    expect(back).toMatchObject({ status: 200, json: { now: null } });
    expect((await callOf(server)).now).toBeLessThan(Date.now() + 10_000);
  });

  test("does not move in other projects", async () => {
    const { id } = await create({ name: "Real" });
    const body = { now: "2030-01-01T00:00:00Z" };
    expect(await management(gateway, "PUT", `/projects/${id}/clock`, body)).toMatchObject({
      status: 403,
      json: { key: "forbidden" },
    });
    expect(await management(gateway, "PUT", "/projects/proj_none/clock", body)).toMatchObject({
      status: 404,
    });
    const sandbox = await create({ name: "s", sandbox: true });
    for (const wrong of [{}, { now: "tomorrow" }]) {
      const answer = await management(gateway, "PUT", `/projects/${sandbox.id}/clock`, wrong);
      expect(answer).toMatchObject({ status: 400, json: { key: "invalid_payload" } });
    }
  });
});

describe("a key", () => {
  test("is made with its secret shown once, and listed without it", async () => {
    const { id } = await create({ name: "Keys" });
    const { status, json } = await management(gateway, "POST", `/projects/${id}/api-keys`, {
      name: "till",
      kind: "server",
      scopes: ["vouchers"],
      allowed_ips: ["127.0.0.1", "10.0.0.0/8"],
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      object: "api_key",
      id: expect.stringMatching(/^app_/),
      app_id: json.id,
      app_token: expect.stringMatching(/^scrip_key_[\w-]{43}$/),
      kind: "server",
      scopes: ["vouchers"],
      allowed_ips: ["127.0.0.1", "10.0.0.0/8"],
      blocked: false,
    });
    const { json: list } = await management(gateway, "GET", `/projects/${id}/api-keys`);
    expect(list).toMatchObject({ object: "list", data_ref: "data", total: 3 });
    expect(list.data.map((key: { name: string }) => key.name)).toEqual([
      "till",
      expect.any(String),
      expect.any(String),
    ]);
    for (const key of list.data) expect(key).not.toHaveProperty("app_token");

    const key = { appId: json.app_id, appToken: json.app_token };
    await newToken(gateway, key, "vouchers");
    const form = { grant_type: "client_credentials", scope: "api" };
    expect((await tokenCall(gateway, "token", key, form)).status).toBe(400);
  });

  test.each([
    [{ kind: "server" }, /required property 'name'/],
    [{ name: "x" }, /required property 'kind'/],
    [{ name: "x", kind: "other" }, /\.kind must be one of: server, client/],
    [{ name: "x", kind: "server", scopes: ["nope"] }, /\.scopes\[0\]/],
    [{ name: "x", kind: "client", scopes: ["client_api", "api"] }, /\.scopes\[1\]/],
    [{ name: "x", kind: "server", allowed_ips: ["10.0.0.0/33"] }, /\.allowed_ips\[0\]/],
    [{ name: "x", kind: "server", allowed_ips: ["::1", "host"] }, /\.allowed_ips\[1\]/],
  ])("is not made from %j", async (body, details) => {
    const { id } = await create({ name: "Keys" });
    const { status, json } = await management(gateway, "POST", `/projects/${id}/api-keys`, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ key: "invalid_payload", details: expect.stringMatching(details) });
  });

  test("stops at once when it is blocked, with its tokens", async () => {
    const { id, server } = await create({ name: "Block" });
    const headers = serverHeaders(server, await newToken(gateway, server, "api"));
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(501);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const path = `/projects/${id}/api-keys/${server.appId}/block`;
      const { status, json } = await management(gateway, "POST", path, {});
      expect({ status, json }).toMatchObject({ status: 200, json: { blocked: true } });
    }
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
    const form = { grant_type: "client_credentials", scope: "api" };
    expect((await tokenCall(gateway, "token", server, form)).status).toBe(401);
  });

  test("gets a new secret while its tokens live on", async () => {
    const { id, server } = await create({ name: "Regenerate" });
    const token = await newToken(gateway, server, "api");
    const headers = serverHeaders(server, token);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(501);
    const path = `/projects/${id}/api-keys/${server.appId}/regenerate`;
    const { json } = await management(gateway, "POST", path);
    expect(json.app_token).not.toBe(server.appToken);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
    const renewed = serverHeaders({ appId: server.appId, appToken: json.app_token }, token);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers: renewed })).status).toBe(
      501,
    );
  });

  test("takes its tokens with it when it is deleted", async () => {
    const { id, server } = await create({ name: "Delete" });
    const headers = serverHeaders(server, await newToken(gateway, server, "api"));
    const path = `/projects/${id}/api-keys/${server.appId}`;
    expect((await management(gateway, "DELETE", path)).status).toBe(204);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
    expect(await management(gateway, "DELETE", path)).toMatchObject({
      status: 404,
      json: { resource_type: "api_key" },
    });
  });

  test("belongs to its project alone", async () => {
    const one = await create({ name: "One" });
    const two = await create({ name: "Two" });
    const path = `/projects/${two.id}/api-keys/${one.server.appId}`;
    for (const [method, suffix] of [
      ["DELETE", ""],
      ["POST", "/block"],
      ["POST", "/regenerate"],
    ]) {
      expect((await management(gateway, method ?? "", path + suffix)).status).toBe(404);
    }
    await newToken(gateway, one.server, "api");
  });
});

test("a project that trusts nobody has no client side", async () => {
  const { client } = await create({ name: "No domains" });
  const headers = clientHeaders(client, await newToken(gateway, client, "client_api"));
  const answer = await send(`${gateway.url}/client/v1/validations`, "POST", { headers, body: {} });
  expect(answer).toMatchObject({
    status: 403,
    json: { key: "forbidden", details: "Origin https://shop.example is not trusted" },
  });
});
