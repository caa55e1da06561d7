import { afterAll, describe, expect, test } from "vitest";

import { createProject, management, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { startRecordingGateway } from "./deps.ts";

const gateway = await startRecordingGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

describe("API keys", () => {
  test("CreateApiKey returns the secret, and ListApiKeys does not", async () => {
    const { id } = await createProject(gateway, { name: "Keys" });
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
  ])("CreateApiKey rejects %j", async (body, details) => {
    const { id } = await createProject(gateway, { name: "Keys" });
    const { status, json } = await management(gateway, "POST", `/projects/${id}/api-keys`, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ key: "invalid_payload", details: expect.stringMatching(details) });
  });

  test("BlockApiKey takes effect immediately, for the key and its tokens", async () => {
    const { id, server } = await createProject(gateway, { name: "Block" });
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

  test("RegenerateApiKey replaces the secret, and tokens of the key stay valid", async () => {
    const { id, server } = await createProject(gateway, { name: "Regenerate" });
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

  test("DeleteApiKey deletes the key with its tokens", async () => {
    const { id, server } = await createProject(gateway, { name: "Delete" });
    const headers = serverHeaders(server, await newToken(gateway, server, "api"));
    const path = `/projects/${id}/api-keys/${server.appId}`;
    expect((await management(gateway, "DELETE", path)).status).toBe(204);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(401);
    expect(await management(gateway, "DELETE", path)).toMatchObject({
      status: 404,
      json: { resource_type: "api_key" },
    });
  });

  test("a key cannot be changed through another project", async () => {
    const one = await createProject(gateway, { name: "One" });
    const two = await createProject(gateway, { name: "Two" });
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
