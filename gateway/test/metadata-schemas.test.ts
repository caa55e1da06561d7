import { asAdmin } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createProject, management, newToken, send, serverHeaders } from "./builders.ts";
import { startRecordingGateway } from "./deps.ts";

const gateway = await startRecordingGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

async function projectWithSchemas() {
  const { id, server } = await createProject(gateway, { name: "Schemas" });
  const headers = serverHeaders(server, await newToken(gateway, server, "api"));
  const path = `/projects/${id}/metadata-schemas`;
  return {
    path,
    create: (body: object) => management(gateway, "POST", path, body),
    read: (resource = "") =>
      send(`${gateway.url}/v1/metadata-schemas${resource}`, "GET", { headers }),
    createVoucher: (metadata: object) =>
      send(`${gateway.url}/v1/vouchers`, "POST", {
        headers,
        body: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1 }, metadata },
      }),
  };
}

/** Runs while the gateway cannot read metadata schemas. */
async function whileUnreadable<Result>(work: () => Promise<Result>): Promise<Result> {
  const rename = (from: string, to: string) =>
    asAdmin(gateway.databaseUrl, (client) =>
      client.query(`alter table gateway.${from} rename to ${to}`),
    );
  await rename("metadata_schema", "unavailable");
  return work().finally(() => rename("unavailable", "metadata_schema"));
}

const TIER = { related_object: "voucher", properties: { tier: { type: "string" } } };

test("a request whose metadata cannot be checked gets 503 with Retry-After, and is sent later", async () => {
  const { createVoucher } = await projectWithSchemas();
  const rejected = await whileUnreadable(() => createVoucher({ tier: 1 }));
  expect(rejected).toMatchObject({ status: 503, json: { key: "service_unavailable" } });
  expect(rejected.headers.get("retry-after")).toMatch(/^\d+$/);
  // The service of this gateway implements nothing.
  expect((await createVoucher({ tier: 1 })).status).toBe(501);
});

describe("CreateProjectMetadataSchema", () => {
  test("returns the schema with the defaults of its definitions", async () => {
    const { create } = await projectWithSchemas();
    expect(await create(TIER)).toMatchObject({
      status: 200,
      json: {
        id: expect.stringMatching(/^ms_[0-9a-f]{18}$/),
        object: "metadata_schema",
        related_object: "voucher",
        properties: {
          tier: { type: "string", array: false, optional: false, deleted: false },
        },
        allow_defined_only: false,
        updated_at: null,
      },
    });
  });

  test("rejects a second schema of a resource, unknown projects and unknown object types", async () => {
    const { create } = await projectWithSchemas();
    await create(TIER);
    expect(await create(TIER)).toMatchObject({ status: 409, json: { key: "duplicate_found" } });
    const nested = { type: "nested", object_type: "address" };
    const customer = { related_object: "customer", properties: { home: nested } };
    expect(await create(customer)).toMatchObject({ status: 404, json: { key: "not_found" } });
    expect(
      await management(gateway, "POST", "/projects/proj_none/metadata-schemas", TIER),
    ).toMatchObject({ status: 404, json: { resource_type: "project" } });
  });

  test("rejects constraints that do not apply to the type", async () => {
    const { create } = await projectWithSchemas();
    const properties = { tier: { type: "boolean", max_length: 3 } };
    expect(await create({ related_object: "voucher", properties })).toMatchObject({
      status: 400,
      json: { key: "invalid_payload", details: expect.stringContaining(".properties.tier") },
    });
  });
});

describe("GetProjectMetadataSchema and ListProjectMetadataSchemas", () => {
  test("return the schemas of the project, newest first", async () => {
    const { path, create } = await projectWithSchemas();
    const one = await create(TIER);
    const two = await create({ ...TIER, related_object: "customer" });
    expect((await management(gateway, "GET", path)).json).toMatchObject({
      object: "list",
      data_ref: "data",
      data: [two.json, one.json],
      total: 2,
    });
    expect((await management(gateway, "GET", `${path}/${one.json.id}`)).json).toEqual(one.json);
    expect(await management(gateway, "GET", `${path}/ms_none`)).toMatchObject({ status: 404 });
    expect(await management(gateway, "GET", "/projects/proj_none/metadata-schemas")).toMatchObject({
      status: 404,
      json: { resource_type: "project" },
    });
  });
});

describe("UpdateProjectMetadataSchema", () => {
  test("replaces the definitions that were sent and retains the others", async () => {
    const { path, create } = await projectWithSchemas();
    const { json } = await create(TIER);
    const change = (properties: object) =>
      management(gateway, "PUT", `${path}/${json.id}`, { properties });
    expect(await change({ size: { type: "number", optional: true } })).toMatchObject({
      status: 200,
      json: {
        properties: { tier: { type: "string" }, size: { type: "number", optional: true } },
        updated_at: expect.any(String),
      },
    });
    expect(await change({ tier: { type: "number" } })).toMatchObject({
      status: 400,
      json: { key: "invalid_payload" },
    });
    expect(await management(gateway, "PUT", `${path}/ms_none`, { properties: {} })).toMatchObject({
      status: 404,
    });
  });
});

describe("DeleteProjectMetadataSchema", () => {
  test("deletes the schema, but not while another schema refers to it", async () => {
    const { path, create } = await projectWithSchemas();
    const address = await create({ related_object: "address", properties: {} });
    const nested = { type: "nested", object_type: "address", optional: true };
    const customer = await create({ related_object: "customer", properties: { home: nested } });
    const remove = (id: string) => management(gateway, "DELETE", `${path}/${id}`);
    expect(await remove(address.json.id)).toMatchObject({
      status: 400,
      json: {
        key: "resource_in_use",
        details: expect.stringContaining(customer.json.id),
        resource_id: address.json.id,
      },
    });
    expect((await remove(customer.json.id)).status).toBe(204);
    expect((await remove(address.json.id)).status).toBe(204);
    expect((await remove(address.json.id)).status).toBe(404);
  });
});

describe("GetMetadataSchema and ListMetadataSchemas", () => {
  test("return the schemas to the server side, by resource", async () => {
    const { create, read } = await projectWithSchemas();
    const { json } = await create(TIER);
    expect(await read()).toMatchObject({ status: 200, json: { total: 1 } });
    expect(await read("/voucher")).toMatchObject({
      status: 200,
      json: { id: json.id, related_object: "voucher" },
    });
    expect(await read("/customer")).toMatchObject({ status: 404, json: { key: "not_found" } });
    const { created_at } = json;
    expect(await read(`?created_at[after]=${created_at}`)).toMatchObject({ json: { total: 0 } });
    expect(await read("?created_at[after]=2020-01-01")).toMatchObject({ json: { total: 1 } });
  });
});

test("a change of a schema is enforced immediately", async () => {
  const { create, createVoucher } = await projectWithSchemas();
  expect((await createVoucher({})).status).toBe(501);
  await create(TIER);
  expect(await createVoucher({})).toMatchObject({
    status: 400,
    json: { key: "metadata_validation_failed", details: "tier: must be present" },
  });
  expect((await createVoucher({ tier: "gold" })).status).toBe(501);
});
