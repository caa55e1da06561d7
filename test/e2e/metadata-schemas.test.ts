import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  type Api,
  type Json,
  managementApi,
  newCode,
  newProject,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("metadata schemas (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  test("are managed by the operator and read by server-side callers", async () => {
    const { api, path } = await createProject();
    const created = await management.post(path, {
      related_object: "customer",
      properties: {
        tier: { type: "string", optional: true, eq: ["gold", "silver"], max_length: 10 },
        spent: { type: "number", gte: 0 },
      },
    });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^ms_[0-9a-f]{18}$/),
      object: "metadata_schema",
      related_object: "customer",
      properties: {
        tier: {
          type: "string",
          array: false,
          optional: true,
          eq: ["gold", "silver"],
          max_length: 10,
          deleted: false,
        },
        spent: { type: "number", array: false, optional: false, gte: 0, deleted: false },
      },
      allow_defined_only: false,
      created_at: expect.any(String),
      updated_at: null,
    });
    const one = `${path}/${created.body["id"]}`;
    expect((await management.get(one)).body).toEqual(created.body);
    expect((await management.get(path)).body).toEqual({
      object: "list",
      data_ref: "data",
      data: [created.body],
      total: 1,
    });

    const read = await api.get("/v1/metadata-schemas/customer");
    expect(read.body["properties"].tier).toEqual({
      type: "string",
      array: false,
      optional: true,
      eq: ["gold", "silver"],
      maxLength: 10,
      deleted: false,
    });
    const listed = await api.get("/v1/metadata-schemas");
    expect(listed.body).toEqual({
      object: "list",
      data_ref: "schemas",
      schemas: [read.body],
      total: 1,
    });

    const updated = await management.put(one, {
      properties: { tier: { type: "string" }, since: { type: "date" } },
      allow_defined_only: true,
    });
    expect(updated.body["allow_defined_only"]).toBe(true);
    expect(Object.keys(updated.body["properties"]).toSorted()).toEqual(["since", "spent", "tier"]);
    expect(updated.body["properties"].tier).toEqual({
      type: "string",
      array: false,
      optional: false,
      deleted: false,
    });
    expect(updated.body["updated_at"]).not.toBeNull();

    expect((await management.delete(one)).status).toBe(204);
    const afterDeletion = await api.get("/v1/metadata-schemas/customer");
    expect([
      afterDeletion.status,
      afterDeletion.body["resource_type"],
      afterDeletion.body["details"],
    ]).toEqual([404, "metadata schema", "Cannot find metadata schema with id customer"]);
  });

  test("are rejected when invalid", async () => {
    const { path } = await createProject();
    const keys = async (response: Promise<ApiResponse>): Promise<unknown[]> => {
      const { status, body } = await response;
      return [status, body["key"]];
    };
    const bad: Json[] = [
      { properties: {} },
      { related_object: "voucher", properties: { a: {} } },
      { related_object: "voucher", properties: { a: { type: "text" } } },
      { related_object: "voucher", properties: { a: { type: "number", lt: "5" } } },
      { related_object: "voucher", properties: { a: { type: "string", eq: [1] } } },
      { related_object: "voucher", properties: { a: { type: "nested" } } },
      {
        related_object: "voucher",
        properties: Object.fromEntries(
          Array.from({ length: 101 }, (_, index) => [`k${index}`, { type: "string" }]),
        ),
      },
    ];
    for (const body of bad) {
      expect(await keys(management.post(path, body)), JSON.stringify(body)).toEqual([
        400,
        "invalid_payload",
      ]);
    }
    const nested = { type: "nested", object_type: "address" };
    const unknown = { related_object: "voucher", properties: { home: nested } };
    expect(await keys(management.post(path, unknown))).toEqual([404, "not_found"]);

    const address = { related_object: "address", properties: { street: { type: "string" } } };
    const { id } = (await management.post(path, address)).body;
    expect(await keys(management.post(path, address))).toEqual([409, "duplicate_found"]);
    expect((await management.post(path, unknown)).status).toBe(200);
    const inUse = await management.delete(`${path}/${id}`);
    expect([inUse.status, inUse.body["key"]]).toEqual([400, "resource_in_use"]);
    const retyped = await management.put(`${path}/${id}`, {
      properties: { street: { type: "number" } },
    });
    expect([retyped.status, retyped.body["details"]]).toEqual([
      400,
      "Property .properties.street.type must stay string: the type of a definition never changes",
    ]);
    const nowhere = "/management/v1/projects/proj_000000000000000000/metadata-schemas";
    expect(await keys(management.post(nowhere, address))).toEqual([404, "not_found"]);
    expect(await keys(management.get(nowhere))).toEqual([404, "not_found"]);
    expect(await keys(management.get(`${path}/ms_unknown`))).toEqual([404, "not_found"]);
  });

  test("are enforced on every request with metadata of their resource", async () => {
    const { api, createSchema } = await createProject();
    for (const resource of [
      "customer",
      "order",
      "order_item",
      "product",
      "voucher",
      "redemption",
      "campaign",
      "promotion_tier",
    ]) {
      await createSchema(resource, { [`of_${resource}`]: { type: "number", optional: true } });
    }
    const voucher = {
      code: newCode("META"),
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100 },
    };
    const stored = await api.post("/v1/vouchers", voucher);
    expect(stored.status, stored.text).toBe(200);
    const product = (await api.post("/v1/products", { name: "Tea" })).body;
    const customer = { source_id: newCode("ann") };
    const redeemables = [{ object: "voucher", id: voucher.code }];

    const wrong = (resource: string): Json => ({ metadata: { [`of_${resource}`]: "x" } });
    const attempts: readonly (readonly [resource: string, path: string, body: Json])[] = [
      ["customer", "/v1/customers", { ...customer, ...wrong("customer") }],
      ["customer", "/v1/orders", { customer: { ...customer, ...wrong("customer") } }],
      ["order", "/v1/orders", wrong("order")],
      ["order_item", "/v1/orders", { items: [{ amount: 5 }, wrong("order_item")] }],
      ["product", "/v1/orders", { items: [{ amount: 5, product: wrong("product") }] }],
      ["product", "/v1/orders", { items: [{ amount: 5, sku: wrong("product") }] }],
      ["product", "/v1/products", wrong("product")],
      ["product", `/v1/products/${product["id"]}/skus`, { sku: "s", ...wrong("product") }],
      ["voucher", "/v1/vouchers", { ...voucher, code: newCode("META"), ...wrong("voucher") }],
      ["redemption", "/v1/validations", { redeemables, ...wrong("redemption") }],
      ["customer", "/v1/validations", { redeemables, customer: wrong("customer") }],
      ["order", "/v1/validations", { redeemables, order: wrong("order") }],
      ["order_item", "/v1/validations", { redeemables, order: { items: [wrong("order_item")] } }],
      ["redemption", `/v1/vouchers/${voucher.code}/validate`, wrong("redemption")],
      ["redemption", `/v1/vouchers/${voucher.code}/redemption`, wrong("redemption")],
      ["customer", `/v1/vouchers/${voucher.code}/redemption`, { customer: wrong("customer") }],
    ];
    for (const [resource, path, body] of [...attempts, ...campaignAttempts(wrong)]) {
      const response = await api.post(path, body);
      const { key, message, details } = response.body;
      expect([response.status, key, message, details], `${path} ${JSON.stringify(body)}`).toEqual([
        400,
        "metadata_validation_failed",
        "Metadata validation failed",
        `of_${resource}: must be a number (actual value is 'x')`,
      ]);
    }
    const put = await api.put(`/v1/vouchers/${voucher.code}`, wrong("voucher"));
    expect([put.status, put.body["key"]]).toEqual([400, "metadata_validation_failed"]);

    const redeemed = await api.post(`/v1/vouchers/${voucher.code}/redemption`, {
      customer: { ...customer, metadata: { of_customer: 1 } },
      order: { amount: 500, metadata: { of_order: 2 } },
      metadata: { of_redemption: 3 },
    });
    expect(redeemed.status, redeemed.text).toBe(200);
  });

  test("report all violations together", async () => {
    const { api, createSchema } = await createProject();
    await createSchema("order", { channel: { type: "string" } });
    await createSchema("order_item", { gift: { type: "boolean" } });
    const response = await api.post("/v1/orders", {
      metadata: { channel: 4 },
      items: [{ amount: 5, metadata: { gift: "no" } }, { amount: 6 }],
    });
    expect(response.body["details"]).toBe(
      "channel: must be a string (actual value is '4'), " +
        "gift: must be a boolean (actual value is 'no'), gift: must be present",
    );
  });

  test("shorten a report that quotes long names, and store it under the key of the request", async () => {
    const { api, path } = await createProject();
    const properties = { size: { type: "string", optional: true } };
    const schema = { related_object: "customer", allow_defined_only: true, properties };
    expect((await management.post(path, schema)).status).toBe(200);
    const customer = { source_id: newCode("ann"), metadata: { ["漢😀".repeat(20_000)]: 1 } };
    const headers = { "idempotency-key": newCode("key") };
    const first = await api.post("/v1/customers", customer, headers);
    expect([first.status, first.body["key"]]).toEqual([400, "metadata_validation_failed"]);
    expect(first.body["details"].length).toBe(2_000);
    const again = await api.post("/v1/customers", customer, headers);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).toBe(first.text);
  });

  test("enforce required keys on creation, but not on existing resources", async () => {
    const { api, createSchema } = await createProject();
    const sourceId = newCode("ann");
    const before = await api.post("/v1/customers", { source_id: sourceId });
    await createSchema("customer", { city: { type: "string" } });
    await createSchema("order", { channel: { type: "string" } });

    const rejected = await api.post("/v1/customers", { source_id: newCode("bob") });
    expect([rejected.status, rejected.body["details"]]).toEqual([400, "city: must be present"]);
    // Stored metadata is not validated again; an id refers to an existing resource.
    const { id } = before.body;
    expect((await api.put(`/v1/customers/${id}`, { name: "Ann" })).status).toBe(200);
    expect((await api.post("/v1/customers", { id, name: "Ann" })).status).toBe(200);
    const nulled = await api.put(`/v1/customers/${id}`, { metadata: { city: null } });
    expect(nulled.body["details"]).toBe("city: must be present");

    const created = await api.post("/v1/orders", { customer: { source_id: sourceId } });
    expect(created.body["details"]).toBe("channel: must be present");
    const order = await api.post("/v1/orders", {
      customer: { source_id: sourceId },
      metadata: { channel: "web" },
    });
    expect(order.status, order.text).toBe(200);
    const named = await api.put(`/v1/orders/${order.body["id"]}`, { metadata: { till: 4 } });
    expect(named.status, named.text).toBe(200);
  });

  test("accept required keys of vouchers from their campaign", async () => {
    const { api, createSchema } = await createProject();
    await createSchema("voucher", { gate: { type: "number" } });
    const discount = { type: "AMOUNT", amount_off: 100 };
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("campaign"),
      use_voucher_metadata_schema: true,
      metadata: { gate: 7 },
      vouchers_count: 0,
      voucher: { discount },
    });
    const make = (more: Json): Promise<ApiResponse> =>
      api.post("/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount, ...more });
    expect((await make({})).body["details"]).toBe("gate: must be present");
    const added = await make({ campaign_id: campaign.body["id"] });
    expect(added.body).toMatchObject({ metadata: { gate: 7 } });
    const wrong = await make({ campaign: campaign.body["name"], metadata: { gate: "7" } });
    expect(wrong.body["details"]).toBe("gate: must be a number (actual value is '7')");
  });

  test("of updated campaigns are those that the campaign was created with", async () => {
    const { api, createSchema } = await createProject();
    await createSchema("voucher", { gate: { type: "number", optional: true } });
    await createSchema("campaign", { season: { type: "number", optional: true } });
    const create = (flag: boolean) =>
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        use_voucher_metadata_schema: flag,
        vouchers_count: 0,
        voucher: { discount: { type: "AMOUNT", amount_off: 100 } },
      });
    for (const [flag, wrong, right] of [
      [true, "gate", "season"],
      [false, "season", "gate"],
    ] as const) {
      const { body } = await create(flag);
      for (const name of [body["id"], body["name"]]) {
        const update = (metadata: Json) => api.put(`/v1/campaigns/${name}`, { metadata });
        const rejected = await update({ [wrong]: "x" });
        expect(rejected.body["details"]).toBe(`${wrong}: must be a number (actual value is 'x')`);
        const updated = await update({ [right]: "x" });
        expect(updated.status, updated.text).toBe(200);
      }
    }
  });

  test("apply a change immediately for the caller that made it, and only in its project", async () => {
    const one = await createProject();
    const two = await createProject();
    const make = (api: Api): Promise<ApiResponse> =>
      api.post("/v1/products", { name: "Tea", metadata: { kind: 1 } });
    expect((await make(one.api)).status).toBe(200);
    const { id } = await one.createSchema("product", { kind: { type: "string" } });
    expect((await make(one.api)).status).toBe(400);
    expect((await make(two.api)).status).toBe(200);
    const path = `${one.path}/${id}`;
    await management.put(path, { properties: { kind: { type: "string", deleted: true } } });
    expect((await make(one.api)).status).toBe(200);
    await management.put(path, { allow_defined_only: true });
    expect((await make(one.api)).body["details"]).toBe("kind: must be defined in the schema");
    await management.delete(path);
    expect((await make(one.api)).status).toBe(200);
  });

  const campaignAttempts = (
    wrong: (resource: string) => Json,
  ): readonly (readonly [resource: string, path: string, body: Json])[] => {
    const campaign = { name: newCode("campaign"), campaign_type: "PROMOTION" };
    const action = { discount: { type: "AMOUNT", amount_off: 100 } };
    const tier = { name: "tier", action };
    const flagged = { ...campaign, use_voucher_metadata_schema: true };
    return [
      ["campaign", "/v1/campaigns", { ...campaign, ...wrong("campaign") }],
      ["voucher", "/v1/campaigns", { ...flagged, ...wrong("voucher") }],
      ["promotion_tier", "/v1/promotions/any/tiers", { ...tier, ...wrong("promotion_tier") }],
      [
        "promotion_tier",
        "/v1/campaigns",
        { ...campaign, promotion: { tiers: [{ ...tier, ...wrong("promotion_tier") }] } },
      ],
      ["voucher", "/v1/campaigns/any/vouchers", wrong("voucher")],
    ];
  };

  async function createProject() {
    const { id, api } = await newProject(stack);
    const path = `/management/v1/projects/${id}/metadata-schemas`;
    const createSchema = async (resource: string, properties: Json): Promise<Json> => {
      const created = await management.post(path, { related_object: resource, properties });
      expect(created.status, created.text).toBe(200);
      return created.body;
    };
    return { api, path, createSchema };
  }
});
