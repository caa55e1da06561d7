import { describe, expect, test } from "vitest";

import { clientApi, type Json, managementApi, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** Client-side operations beside the variants of server-side ones (docs/authentication.md#client-side-callers). */
describe.each(COMPOSITIONS)("a client-side caller (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const client = await clientApi(stack, "https://shop.example");

  const configureProject = async (features: Json): Promise<void> => {
    const path = `/management/v1/projects/${stack.projectId}`;
    const { status, text } = await managementApi(stack).put(path, features);
    expect(status, text).toBe(200);
  };

  const createVoucher = async (more: Json = {}): Promise<string> => {
    const code = newCode("PAGE");
    const created = await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 300 },
      ...more,
    });
    expect(created.status, created.text).toBe(200);
    return code;
  };

  test("validates a code with query parameters alone", async () => {
    const code = await createVoucher();
    const response = await client.get(`/client/v1/validate?code=${code}&amount=1000`);
    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({
      valid: true,
      code,
      discount: { type: "AMOUNT", amount_off: 300 },
      order: { amount: 1000, total_discount_amount: 300, total_amount: 700 },
    });
    const items = `order[items][0][price]=250&order[items][0][quantity]=2&customer[source_id]=me`;
    const nested = await client.get(`/client/v1/validate?code=${code}&${items}`);
    expect(nested.body).toMatchObject({
      valid: true,
      order: { amount: 500, total_amount: 200, items: [{ quantity: 2, amount: 500 }] },
      tracking_id: expect.stringMatching(/^track_/),
    });
  });

  test("validates items and a session that are passed directly in the query", async () => {
    const code = await createVoucher({ redemption: { quantity: 1 } });
    const key = `session-${code}`;
    const session = `session_type=LOCK&session_key=${key}&session_ttl=10&session_ttl_unit=MINUTES`;
    const items = "item[0][price]=250&item[0][quantity]=2&item[0][product][name]=Mug";
    const validated = await client.get(`/client/v1/validate?code=${code}&${items}&${session}`);
    expect(validated.body).toMatchObject({
      valid: true,
      order: { amount: 500, total_amount: 200, items: [{ quantity: 2, amount: 500 }] },
      session: { type: "LOCK", key, ttl: 10, ttl_unit: "MINUTES" },
    });
    const other = await client.get(`/client/v1/validate?code=${code}&amount=1000`);
    expect(other.body).toMatchObject({ valid: false, error: { key: "quantity_exceeded" } });
    expect((await api.delete(`/v1/vouchers/${code}/sessions/${key}`)).status).toBe(204);
    const keyless = await client.get(`/client/v1/validate?code=${code}&amount=1000&session_ttl=1`);
    expect(keyless.body["session"]).toMatchObject({ type: "LOCK", ttl: 1 });
    const invalid = await client.get(`/client/v1/validate?code=${code}&session_type=OPEN`);
    expect([invalid.status, invalid.body["key"]]).toEqual([400, "invalid_query_params"]);
  });

  test("validates promotions for an amount or items that are passed directly in the query", async () => {
    const discount = { type: "PERCENT", percent_off: 10 };
    const created = await api.post("/v1/campaigns", {
      name: newCode("promotion"),
      campaign_type: "PROMOTION",
      promotion: { tiers: [{ name: "Off", action: { discount } }] },
    });
    const [{ id }] = created.body["promotion"].tiers;
    for (const query of ["amount=1000", "item[0][price]=500&item[0][quantity]=2"]) {
      const response = await client.get(`/client/v1/promotions/validation?${query}`);
      const tier = response.body["promotions"].find((one: Json) => one["id"] === id);
      expect(tier, query).toMatchObject({ discount_amount: 100, order: { amount: 1000 } });
    }
    expect((await api.delete(`/v1/promotions/tiers/${id}`)).status).toBe(204);
  });

  test.each([
    ["no code", "amount=1", 400, "invalid_query_params"],
    ["an unknown code", "code=nobody-has-it", 404, "not_found"],
    ["a negative amount", "code=x&amount=-1", 400, "invalid_query_params"],
  ])("receives an error for %s", async (_, query, status, key) => {
    const response = await client.get(`/client/v1/validate?${query}`);
    expect([response.status, response.body["key"]]).toEqual([status, key]);
  });

  test("redeems a code if the project allows it, once per idempotency key", async () => {
    const code = await createVoucher({ redemption: { quantity: 1 } });
    await configureProject({ client_redeem_enabled: false });
    const redeem = () =>
      client.post(
        `/client/v1/redeem?code=${code}`,
        {
          order: { amount: 1000 },
          customer: { source_id: `me-${code}`, name: "Not my name" },
          options: { expand: ["explanation"] },
        },
        { "idempotency-key": code },
      );
    const rejected = await redeem();
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "forbidden"]);

    await configureProject({ client_redeem_enabled: true });
    const redeemed = await redeem();
    expect(redeemed.status, redeemed.text).toBe(200);
    expect(redeemed.body).toMatchObject({
      object: "redemption",
      result: "SUCCESS",
      order: { status: "PAID", total_amount: 700 },
      voucher: { code, redemption: { redeemed_quantity: 1 } },
    });
    expect(redeemed.body["customer"]).toEqual({
      object: "customer",
      id: redeemed.body["customer_id"],
      source_id: `me-${code}`,
    });
    expect(redeemed.body["explanation"].steps[0]).toEqual({
      kind: "active",
      passed: true,
      message: "It is switched on",
    });
    const stored = await api.get(`/v1/customers/me-${code}`);
    expect(stored.body["name"]).toBeNull();

    const again = await redeem();
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([redeemed.text, "true"]);
    const other = await client.post(`/client/v1/redeem?code=${code}`, { order: { amount: 1000 } });
    expect([other.status, other.body["key"]]).toEqual([400, "quantity_exceeded"]);
    const nameless = await client.post("/client/v1/redeem", { order: { amount: 1000 } });
    expect([nameless.status, nameless.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("publishes a voucher if the project allows it, without stored customer data", async () => {
    const code = await createVoucher();
    const source = `friend-${code}`;
    await api.post("/v1/customers", { source_id: source, name: "Ada", email: "ada@shop.example" });
    await configureProject({ client_publish_enabled: false });
    const publish = () =>
      client.post("/client/v1/publish", {
        voucher: code,
        customer: { source_id: source, name: "Eve" },
      });
    const rejected = await publish();
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "forbidden"]);

    await configureProject({ client_publish_enabled: true });
    const published = await publish();
    expect(published.status, published.text).toBe(200);
    expect(published.body).toMatchObject({ object: "publication", voucher: { code } });
    expect(published.body["customer"]).toEqual({
      object: "customer",
      id: published.body["customer_id"],
      source_id: source,
    });
    const stored = await api.get(`/v1/customers/${source}`);
    expect(stored.body).toMatchObject({ name: "Ada", email: "ada@shop.example" });
  });

  test("lists the vouchers of a customer if the project allows it", async () => {
    const [code, other] = [await createVoucher(), await createVoucher()];
    const source = newCode("holder");
    const { body: publication } = await api.post("/v1/publications", {
      voucher: code,
      customer: source,
    });
    await api.post("/v1/publications", { voucher: other, customer: newCode("other") });
    await configureProject({ client_list_vouchers_enabled: false });
    const list = (query: string) => client.get(`/client/v1/vouchers${query}`);
    const rejected = await list(`?customer=${source}`);
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "forbidden"]);

    await configureProject({ client_list_vouchers_enabled: true });
    const everything = await list("");
    expect([everything.status, everything.body["key"]]).toEqual([400, "invalid_query_params"]);
    for (const customer of [source, publication["customer_id"]]) {
      const listed = await list(`?customer=${customer}`);
      expect(listed.status, listed.text).toBe(200);
      expect(listed.body).toMatchObject({ object: "list", total: 1, vouchers: [{ code }] });
    }
    expect((await list("?customer=nobody")).body).toMatchObject({ total: 0, vouchers: [] });
  });

  test("creates customers if the project allows it, and neither changes nor sees stored ones", async () => {
    const source = newCode("new");
    await configureProject({ client_create_customer_enabled: false });
    const create = (body: Json) => client.post("/client/v1/customers", body);
    const rejected = await create({ source_id: source });
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "forbidden"]);

    await configureProject({ client_create_customer_enabled: true });
    const created = await create({ source_id: source, name: "Ada", metadata: { way: "web" } });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toMatchObject({ object: "customer", source_id: source, name: null });
    const { body: stored } = await api.get(`/v1/customers/${source}`);
    expect(stored).toMatchObject({ name: "Ada", metadata: { way: "web" } });
    for (const key of [{ source_id: source }, { id: stored["id"] }]) {
      const repeated = await create({ ...key, name: "Eve", email: "eve@shop.example" });
      expect(repeated.text).toBe(created.text);
    }
    expect((await api.get(`/v1/customers/${source}`)).body).toEqual(stored);
    const unknown = await create({ id: "cust_none" });
    expect([unknown.status, unknown.body["key"]]).toEqual([404, "not_found"]);
    const nameless = await create({ email: "me@shop.example" });
    expect([nameless.status, nameless.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("lists current promotion tiers without summaries and rule assignments", async () => {
    const rule = await api.post("/v1/validation-rules", {
      name: newCode("rule"),
      rules: { 1: { name: "order.amount", conditions: { $more_than: [100] } } },
    });
    const discount = { type: "PERCENT", percent_off: 5 };
    const tier = (name: string, more: Json = {}) => ({ name, action: { discount }, ...more });
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("promotion"),
      campaign_type: "PROMOTION",
      promotion: {
        tiers: [tier("off", { active: false }), tier("early", { start_date: "2999-01-01" })],
      },
    });
    expect(campaign.status, campaign.text).toBe(200);
    const created = await api.post(
      `/v1/promotions/${campaign.body["id"]}/tiers`,
      tier("runs", { banner: "5 % off", validation_rules: [rule.body["id"]] }),
    );
    expect(created.status, created.text).toBe(200);

    const shown = await client.get("/client/v1/promotions/tiers");
    expect(shown.status, shown.text).toBe(200);
    expect(shown.body).toMatchObject({ object: "list", data_ref: "tiers", total: 1 });
    const [only] = shown.body["tiers"];
    expect(only).toMatchObject({
      object: "promotion_tier",
      id: created.body["id"],
      banner: "5 % off",
      action: { discount },
      validation_rules_assignments: { total: 0 },
    });
    expect(only).not.toHaveProperty("summary");
  });
});
