import { afterAll, describe, expect, test } from "vitest";

import {
  callOf,
  clientHeaders,
  createProject,
  management,
  newToken,
  send,
  serverHeaders,
  tokenCall,
} from "./builders.ts";
import { startRecordingGateway } from "./deps.ts";

const gateway = await startRecordingGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

describe("projects", () => {
  test("CreateProject returns two keys, whose secrets GetProject does not return", async () => {
    const { id, json, server } = await createProject(gateway, {
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
    const { project } = await callOf(gateway, server);
    expect(project).toEqual({
      id,
      version: 1n,
      timeZone: "Europe/Warsaw",
      firstWeekday: 0,
      caseSensitiveCodes: false,
      codeConfig: JSON.stringify({ length: 12, prefix: "S-" }),
    });
  });

  test("null turns off a feature of client-side callers, and an absent flag keeps it", async () => {
    const flags = { client_redeem_enabled: true, client_publish_enabled: true };
    const { id } = await createProject(gateway, { name: "Features", ...flags });
    const change = async (body: object) =>
      (await management(gateway, "PUT", `/projects/${id}`, body)).json;
    expect(await change({ client_redeem_enabled: null })).toMatchObject({
      client_redeem_enabled: false,
      client_publish_enabled: true,
    });
    expect(
      await change({ client_publish_enabled: false, client_redeem_enabled: true }),
    ).toMatchObject({ client_redeem_enabled: true, client_publish_enabled: false });
  });

  test("the first weekday is Monday by default", async () => {
    const { id, json } = await createProject(gateway, { name: "Weeks" });
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
  ])("CreateProject rejects %j", async (body, details) => {
    const { status, json } = await management(gateway, "POST", "/projects", body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ key: "invalid_payload", details: expect.stringMatching(details) });
  });

  test.each(["GMT+2", "GMT-3:30", "UTC", "America/New_York"])(
    "accepts the time zone %s",
    async (timezone) => {
      const { json } = await createProject(gateway, { name: "x", timezone });
      expect(json.timezone).toBe(timezone);
    },
  );

  test("UpdateProject changes the fields that were sent, and null clears a field", async () => {
    const { id, server } = await createProject(gateway, {
      name: "Before",
      description: "d",
      currency: "EUR",
      client_publish_enabled: true,
      case_sensitive_codes: false,
    });
    await callOf(gateway, server);
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
    // Effective immediately, although the project was cached.
    expect((await callOf(gateway, server)).project.timeZone).toBe("Asia/Kolkata");
  });

  test("ListProjects returns the newest first, in pages", async () => {
    const one = await createProject(gateway, { name: "list-1" });
    const two = await createProject(gateway, { name: "list-2" });
    const { json } = await management(gateway, "GET", "/projects?limit=2");
    expect(json).toMatchObject({ object: "list", data_ref: "data" });
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual([two.id, one.id]);
    expect(json.total).toBeGreaterThan(2);
    const { json: far } = await management(gateway, "GET", "/projects?page=100&limit=100");
    expect(far).toMatchObject({ data: [], total: json.total });
    const over = await management(gateway, "GET", "/projects?limit=101");
    expect(over).toMatchObject({
      status: 400,
      json: { key: "invalid_query_params", details: "Property .limit cannot be higher than 100" },
    });
  });

  test("DeleteProject deletes the project with its keys and tokens", async () => {
    const { id, server } = await createProject(gateway, { name: "Short" });
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

test("a project without trusted domains rejects client-side callers", async () => {
  const { client } = await createProject(gateway, { name: "No domains" });
  const headers = clientHeaders(client, await newToken(gateway, client, "client_api"));
  const response = await send(`${gateway.url}/client/v1/validations`, "POST", {
    headers,
    body: {},
  });
  expect(response).toMatchObject({
    status: 403,
    json: { key: "forbidden", details: "Origin https://shop.example is not trusted" },
  });
});
