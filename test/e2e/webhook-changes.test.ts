import { afterAll, describe, expect, test, vi } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { uploadTo } from "../stack/uploads.ts";
import { startWebhookReceiver } from "../stack/webhook-receiver.ts";

const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

describe.each(COMPOSITIONS)("webhooks about resources (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);
  const {
    id: projectId,
    api,
    clientSide,
  } = await newProject(stack, {
    client_trusted_domains: ["*"],
  });
  const { createRule, createVoucher } = ruleBuilders(api);

  const createHook = (path: string, events: readonly string[]): Promise<Json> =>
    ok(
      management.post(`/management/v1/projects/${projectId}/webhooks`, {
        target_url: receiver.urlOf(path),
        events,
      }),
    );

  test("sends the customers and orders that requests write in passing, once", async () => {
    const path = newCode("passing");
    const order = "customer.order";
    const events = ["created", "updated", "canceled"].map((change) => `${order}.${change}`);
    await createHook(path, ["customer.created", "customer.updated", ...events]);
    const [published, buyer, orderer, visitor] = ["p", "b", "o", "v"].map((name) => newCode(name));
    const [first, second, third] = [newCode("first"), newCode("second"), newCode("third")];
    const { code } = await createVoucher({
      type: "GIFT_VOUCHER",
      discount: undefined,
      gift: { amount: 10_000 },
    });
    const customer = { source_id: published, name: "Ann" };
    await ok(api.post("/v1/publications", { customer, voucher: code }));
    const redeem = (more: Json): Promise<Json> =>
      ok(
        api.post(`/v1/vouchers/${code}/redemption`, {
          gift: { credits: 100 },
          order: { source_id: first, amount: 5_000 },
          ...more,
        }),
      );
    const one = await redeem({ customer: { source_id: buyer, email: "b@example.com" } });
    const two = await redeem({ customer: { source_id: buyer, name: "Bob" } });
    await redeem({ order: undefined, customer: { source_id: buyer, name: "Bob" } });
    for (const { id } of [two, one]) await ok(api.post(`/v1/redemptions/${id}/rollback`));
    const three = await redeem({ order: { source_id: third, amount: 100 } });
    await ok(api.put(`/v1/orders/${third}`, { status: "CANCELED" }));
    await ok(api.post(`/v1/redemptions/${three["id"]}/rollback`));
    await ok(
      api.post("/v1/orders", { source_id: second, amount: 100, customer: { source_id: orderer } }),
    );
    await ok(api.post("/v1/events", { event: "seen", customer: { source_id: visitor } }));
    const unknown = { customer: { source_id: newCode("nobody") }, order: { amount: 1_000 } };
    await ok(api.post(`/v1/vouchers/${code}/validate`, unknown));
    await ok(api.post("/v1/qualifications", unknown));

    const expected = [
      ["customer.created", published],
      ["customer.created", buyer],
      [`${order}.created`, first],
      ["customer.updated", buyer],
      [`${order}.updated`, first],
      [`${order}.updated`, first],
      [`${order}.updated`, first],
      [`${order}.canceled`, first],
      [`${order}.created`, third],
      [`${order}.updated`, third],
      [`${order}.canceled`, third],
      // The rollback changes an order that is canceled already.
      [`${order}.updated`, third],
      ["customer.created", orderer],
      [`${order}.created`, second],
      ["customer.created", visitor],
    ];
    const received = await vi.waitFor(() => expectCount(path, expected.length), {
      timeout: 30_000,
      interval: 100,
    });
    const sent = received.map(({ body }) => {
      const { type, data } = JSON.parse(body);
      return [type, (data.customer ?? data.order).source_id];
    });
    // They arrive in order for each customer only.
    const sorted = (pairs: readonly (readonly (string | undefined)[])[]) =>
      pairs.map((pair) => pair.join(" ")).toSorted();
    expect(sorted(sent)).toEqual(sorted(expected));
    const bodies = received.map(({ body }) => JSON.parse(body));
    expect(bodies.find(({ type }) => type === "customer.updated").data.customer).toMatchObject({
      object: "customer",
      name: "Bob",
      email: "b@example.com",
      summary: expect.any(Object),
    });
    expect(bodies.find(({ type }) => type === `${order}.canceled`).data.order).toMatchObject({
      object: "order",
      status: "CANCELED",
    });
  });

  test("sends imported vouchers if the import asks for it", async () => {
    const path = newCode("imported");
    await createHook(path, ["voucher.created", "voucher.updated"]);
    const [silent, loud] = [newCode("silent"), newCode("loud")];
    const importCsv = async (csv: string, webhooks: boolean): Promise<void> => {
      const form = { csv: `Code,Voucher Type,Value,Active\n${csv}`, headers: {}, webhooks };
      const { body } = await uploadTo({ url: stack.url, api }, "/v1/vouchers/importCSV", form);
      await vi.waitFor(
        async () => {
          const { status } = await ok(api.get(`/v1/async-actions/${body["async_action_id"]}`));
          expect(status).toBe("DONE");
        },
        { timeout: 30_000, interval: 100 },
      );
    };
    await importCsv(`${silent},GIFT_VOUCHER,10.00,true\n`, false);
    await importCsv(`${loud},GIFT_VOUCHER,10.00,true\n${silent},GIFT_VOUCHER,10.00,false\n`, true);

    const received = await vi.waitFor(() => expectCount(path, 2), {
      timeout: 30_000,
      interval: 100,
    });
    const sent = received.map(({ body }) => {
      const { type, data } = JSON.parse(body);
      return `${type} ${data.voucher.code} ${data.voucher.active}`;
    });
    expect(sent.toSorted()).toEqual([
      `voucher.created ${loud} true`,
      `voucher.updated ${silent} false`,
    ]);
  });

  test("rejects a key whose import had another value of webhooks_enable", async () => {
    const csv = `Code,Voucher Type,Value\n${newCode("keyed")},GIFT_VOUCHER,10.00\n`;
    const headers = { "idempotency-key": newCode("key") };
    const send = (webhooks: boolean) =>
      uploadTo({ url: stack.url, api }, "/v1/vouchers/importCSV", { csv, headers, webhooks });
    const first = await send(false);
    expect(first.status, first.text).toBe(202);
    expect((await send(false)).text).toBe(first.text);
    const other = await send(true);
    expect([other.status, other.body["key"]]).toEqual([422, "idempotency_key_reused"]);
  });

  test("sends the changes that requests make to resources, only to projects that receive them", async () => {
    const path = newCode("changes");
    const names = [
      "voucher.created",
      "voucher.updated",
      "voucher.disabled",
      "campaign.created",
      "campaign.vouchers.added",
      "campaign.promotion_tier.created",
      "campaign.promotion_tier.deleted",
      "customer.created",
      "customer.updated",
      "customer.order.created",
      "customer.order.canceled",
      "product.created",
      "product.updated",
      "business_validation_rule.created",
      "business_validation_rule.deleted",
      "export.completed",
    ];
    await createHook(path, names);
    // Other names are not published: the webhook would not receive them.
    const { code, id: voucherId } = await createVoucher();
    await ok(api.put(`/v1/vouchers/${code}`, { metadata: { season: "summer" } }));
    await ok(api.post(`/v1/vouchers/${code}/disable`));
    await ok(api.post(`/v1/vouchers/${code}/enable`));
    const program = await ok(
      api.post("/v1/campaigns", {
        name: newCode("camp"),
        campaign_type: "DISCOUNT_COUPONS",
        voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } },
      }),
    );
    const added = await ok(api.post(`/v1/campaigns/${program["id"]}/vouchers`));
    const promotion = await ok(
      api.post("/v1/campaigns", { name: newCode("promo"), campaign_type: "PROMOTION" }),
    );
    const tier = await ok(
      api.post(`/v1/promotions/${promotion["id"]}/tiers`, {
        name: "tier",
        banner: "banner",
        action: { discount: { type: "AMOUNT", amount_off: 100 } },
      }),
    );
    await api.delete(`/v1/promotions/tiers/${tier["id"]}`);
    const source = newCode("ada");
    const customer = await ok(api.post("/v1/customers", { source_id: source }));
    await ok(api.post("/v1/customers", { source_id: source, name: "Ada" }));
    const order = await ok(api.post("/v1/orders", { amount: 1_000 }));
    await ok(api.put(`/v1/orders/${order["id"]}`, { status: "CANCELED" }));
    // With a key, the change is published once, whatever is repeated.
    const headers = { "idempotency-key": newCode("key") };
    const product = { source_id: newCode("prod"), name: "Tea" };
    await ok(api.post("/v1/products", product, headers));
    await ok(api.post("/v1/products", product, headers));
    await ok(api.post("/v1/products", { ...product, name: "Coffee" }));
    const rule = await createRule();
    await api.delete(`/v1/validation-rules/${rule["id"]}`);
    await ok(api.post("/v1/exports", { exported_object: "customer" }));

    const expected = [...names, "campaign.created", "voucher.created"];
    const bodies = await vi.waitFor(
      () => {
        const sent: Json[] = receiver.of(path).map(({ body }) => JSON.parse(body));
        // A receiver may get a delivery twice.
        const received = [...new Map(sent.map((body) => [body["id"], body])).values()];
        const types: string[] = received.map((body) => body["type"]);
        expect(types.toSorted()).toEqual(expected.toSorted());
        return received;
      },
      { timeout: 40_000, interval: 100 },
    );
    const dataOf = (type: string): Json[] =>
      bodies.filter((body) => body["type"] === type).map((body) => body["data"]);
    expect(dataOf("voucher.updated")).toEqual([
      { voucher: expect.objectContaining({ id: voucherId, metadata: { season: "summer" } }) },
    ]);
    expect(dataOf("campaign.vouchers.added")).toEqual([
      { voucher: expect.objectContaining({ code: added["code"] }) },
    ]);
    expect(dataOf("campaign.promotion_tier.deleted")).toEqual([
      { promotion_tier: { object: "promotion_tier", id: tier["id"] } },
    ]);
    expect(dataOf("customer.created")).toEqual([
      { customer: expect.objectContaining({ id: customer["id"], name: null }) },
    ]);
    expect(dataOf("product.updated")).toEqual([
      { product: expect.objectContaining({ name: "Coffee" }) },
    ]);
    expect(dataOf("export.completed")).toEqual([
      { export: expect.objectContaining({ status: "DONE" }) },
    ]);
    const ofVoucher = bodies.filter(({ event }) => event.aggregate_id === voucherId);
    expect(new Set(ofVoucher.map(({ event }) => event.sequence))).toEqual(new Set([1, 2, 3]));
  });

  test("announces the codes that are created together with their campaign", async () => {
    const path = newCode("codes");
    await createHook(path, ["campaign.vouchers.generation.completed"]);
    const create = (vouchersCount: number): Promise<Json> =>
      ok(
        api.post("/v1/campaigns", {
          name: newCode("camp"),
          vouchers_count: vouchersCount,
          voucher: { discount: { type: "AMOUNT", amount_off: 100 } },
        }),
      );
    await create(0);
    const { id } = await create(2);

    const [completed] = await vi.waitFor(() => expectCount(path, 1), { timeout: 30_000 });
    const { campaign } = JSON.parse(completed?.body ?? "").data;
    expect(campaign).toMatchObject({ id, vouchers_count: 2, vouchers_generation_status: "DONE" });
  });

  test("sends the ids of products and SKUs that were deleted by their source ids", async () => {
    const path = newCode("catalogue");
    await createHook(path, ["product.deleted", "sku.deleted"]);
    const [tea, green] = [newCode("tea"), newCode("green")];
    const product = await ok(api.post("/v1/products", { source_id: tea }));
    const sku = await ok(api.post(`/v1/products/${tea}/skus`, { source_id: green }));
    expect((await api.delete(`/v1/products/${tea}/skus/${green}`)).status).toBe(204);
    expect((await api.delete(`/v1/products/${tea}?force=true`)).status).toBe(204);

    const received = await vi.waitFor(() => expectCount(path, 2), { timeout: 30_000 });
    const bodies = received.map(({ body }) => JSON.parse(body));
    const sent = bodies.map(({ type, data, event }) => [type, data, event.entity_id]);
    expect(new Set(sent)).toEqual(
      new Set([
        ["product.deleted", { product: { object: "product", id: product["id"] } }, product["id"]],
        ["sku.deleted", { sku: { object: "sku", id: sku["id"] } }, sku["id"]],
      ]),
    );
  });

  test("sends customers that client-side callers create, once and with their data", async () => {
    const path = newCode("client");
    await createHook(path, ["customer.created", "customer.updated"]);
    await ok(
      management.put(`/management/v1/projects/${projectId}`, {
        client_create_customer_enabled: true,
        client_redeem_enabled: true,
      }),
    );
    const client = await clientSide();
    const [registered, buyer] = [newCode("registered"), newCode("buyer")];
    for (const name of ["Ada", "Eve"]) {
      await ok(client.post("/client/v1/customers", { source_id: registered, name }));
    }
    const { code } = await createVoucher();
    const redemption = { redeemables: [{ object: "voucher", id: code }] };
    const customer = { source_id: buyer, name: "Not stored" };
    await ok(
      client.post("/client/v1/redemptions", { ...redemption, customer, order: { amount: 1 } }),
    );

    const received = await vi.waitFor(() => expectCount(path, 2), { timeout: 30_000 });
    const customers = received.map(({ body }) => {
      const { type, data } = JSON.parse(body);
      return [data.customer.source_id, type, data.customer.name];
    });
    expect(new Set(customers)).toEqual(
      new Set([
        [buyer, "customer.created", null],
        [registered, "customer.created", "Ada"],
      ]),
    );
  });
});

function expectCount(path: string, count: number) {
  const received = receiver.of(path);
  expect(received).toHaveLength(count);
  return received;
}
