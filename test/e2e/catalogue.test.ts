import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("orders, products and SKUs (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("stores an order whose amounts are calculated from its items", async () => {
    const sourceId = newCode("order");
    const order = await ok(
      api.post("/v1/orders", {
        source_id: sourceId,
        amount: 1,
        discount_amount: 100,
        customer: { source_id: newCode("buyer"), name: "Ann" },
        metadata: { channel: "web" },
        items: [
          { source_id: "a", quantity: "2", price: 1_000 },
          { source_id: "b", amount: 500, discount_amount: 50 },
        ],
      }),
    );
    expect(order).toMatchObject({
      object: "order",
      source_id: sourceId,
      status: "CREATED",
      amount: 2_500,
      initial_amount: 2_500,
      discount_amount: 100,
      items_discount_amount: 50,
      total_discount_amount: 150,
      total_amount: 2_350,
      metadata: { channel: "web" },
      items: [
        { object: "order_item", amount: 2_000, subtotal_amount: 2_000 },
        { amount: 500, discount_amount: 50, subtotal_amount: 450 },
      ],
    });
    expect(order["id"]).toMatch(/^ord_[0-9a-f]{18}$/);
    expect(order["customer"]).toEqual({ id: order["customer_id"], object: "customer" });
    expect(await ok(api.get(`/v1/orders/${order["id"]}`))).toEqual(order);
    expect(await ok(api.get(`/v1/orders/${sourceId}`))).toEqual(order);

    const paid = await ok(
      api.put(`/v1/orders/${sourceId}`, { id: "x", status: "PAID", metadata: { till: 4 } }),
    );
    expect(paid).toMatchObject({
      id: order["id"],
      status: "PAID",
      amount: 2_500,
      total_amount: 2_350,
      customer_id: order["customer_id"],
      metadata: { channel: "web", till: 4 },
    });
    const shrunk = await ok(
      api.post("/v1/orders", { source_id: sourceId, items: [{ price: 60, quantity: 1 }] }),
    );
    expect(shrunk).toMatchObject({ id: order["id"], status: "PAID", amount: 60, total_amount: 0 });
  });

  test("rejects orders with unknown references or invalid values", async () => {
    const rejected = async (body: Json): Promise<unknown[]> => {
      const response = await api.post("/v1/orders", body);
      return [response.status, response.body["key"], response.body["resource_type"]];
    };
    expect(await rejected({ id: "ord_unknown" })).toEqual([404, "not_found", "order"]);
    expect(await rejected({ customer: { id: "cust_unknown" } })).toEqual([
      404,
      "not_found",
      "customer",
    ]);
    expect(await rejected({ referrer_id: "cust_unknown" })).toEqual([404, "not_found", "customer"]);
    expect((await rejected({ amount: -1 }))[1]).toBe("invalid_payload");
    expect((await rejected({ status: "LOST" }))[1]).toBe("invalid_payload");
    expect((await rejected({ items: [{ price: -1 }] }))[1]).toBe("invalid_order");
    expect((await api.get("/v1/orders/nothing")).body["details"]).toBe(
      "Cannot find order with id nothing",
    );

    const [one, two] = [newCode("one"), newCode("two")];
    await ok(api.post("/v1/orders", { source_id: one }));
    await ok(api.post("/v1/orders", { source_id: two }));
    const duplicate = await api.put(`/v1/orders/${two}`, { source_id: one });
    expect([duplicate.status, duplicate.body["key"]]).toEqual([409, "duplicate_found"]);
  });

  test("lists orders oldest first, page by page", async () => {
    const ids: string[] = [];
    for (const day of [3, 1, 2]) {
      const order = await ok(
        api.post("/v1/orders", { amount: day, created_at: `2001-01-0${day}T00:00:00.000Z` }),
      );
      ids[day - 1] = order["id"];
    }
    const first = await ok(api.get("/v1/orders?limit=2"));
    expect([first["object"], first["data_ref"]]).toEqual(["list", "orders"]);
    expect(first["orders"].map(({ id }: Json) => id)).toEqual(ids.slice(0, 2));
    const second = await ok(api.get("/v1/orders?limit=2&page=2"));
    expect(second["orders"][0].id).toBe(ids[2]);
    const last = await ok(api.get("/v1/orders?order=-created_at&limit=100"));
    expect(last["total"]).toBe(first["total"]);
    expect((await api.get("/v1/orders?order=amount")).body["key"]).toBe("invalid_query_params");
  });

  test("redeems on a stored order, which keeps its fields and becomes PAID", async () => {
    const code = newCode("TEN");
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
      }),
    );
    const order = await ok(
      api.post("/v1/orders", { items: [{ price: 500, quantity: 1 }], metadata: { a: 1 } }),
    );
    const redemption = await ok(
      api.post(`/v1/vouchers/${code}/redemption`, {
        order: { id: order["id"], metadata: { b: 2 } },
      }),
    );
    const paid = await ok(api.get(`/v1/orders/${order["id"]}`));
    expect(paid).toMatchObject({ status: "PAID", total_amount: 400, metadata: { a: 1, b: 2 } });
    expect(Object.keys(paid["redemptions"])).toEqual([redemption["id"]]);
    const canceled = await ok(api.put(`/v1/orders/${order["id"]}`, { status: "CANCELED" }));
    expect(canceled).toMatchObject({ status: "CANCELED", redemptions: paid["redemptions"] });
  });

  test("redeems on an order with the maximum number of items and large metadata on each", async () => {
    const code = newCode("LONG");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ITEMS" },
    });
    const items = Array.from({ length: 500 }, (_, index) => ({
      source_id: `${code}-${index}`,
      related_object: "product",
      quantity: 2,
      price: 1000,
      product: {
        name: `One of the many products of the shop, number ${index}`,
        metadata: { brand: "A brand", colour: "red", size: "XL", tags: ["new", "sale", "gift"] },
      },
      metadata: { note: "Wrapped in paper, with a card for whoever it is for".repeat(4), lot: 7 },
    }));
    const order = { source_id: code, items };
    const stored = await api.post("/v1/orders", order);
    expect([stored.status, stored.body["amount"]], stored.text).toEqual([200, 1_000_000]);
    const validated = await api.post(`/v1/vouchers/${code}/validate`, { order: { items } });
    expect([validated.status, validated.body["valid"]], validated.text).toEqual([200, true]);
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, { order });
    expect(redeemed.status, redeemed.text).toBe(200);
    expect(redeemed.body["order"]).toMatchObject({
      items_discount_amount: 100_000,
      total_amount: 900_000,
    });
    const one = { source_id: "one", price: 1, quantity: 1 };
    const longer = await api.post("/v1/orders", { items: [...items, one] });
    expect([longer.status, longer.body["details"]]).toEqual([
      400,
      "Property .items must NOT have more than 500 items",
    ]);
  });

  test("returns empty metadata for orders without metadata", async () => {
    const code = newCode("plain");
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
      }),
    );
    const order = { amount: 500 };
    const validated = await ok(api.post(`/v1/vouchers/${code}/validate`, { order }));
    expect(validated["order"]).toMatchObject({ metadata: {} });
    const redeemed = await ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    const path = `/v1/orders/${redeemed["order"].id}`;
    expect((await ok(api.get(path)))["metadata"]).toEqual({});
  });

  test("stores products and their SKUs by id and by source id", async () => {
    const [shirt, large] = [newCode("shirt"), newCode("large")];
    const product = await ok(
      api.post("/v1/products", {
        source_id: shirt,
        name: "Shirt",
        price: 2_000,
        attributes: ["size"],
        metadata: { line: "summer" },
      }),
    );
    expect(product).toMatchObject({
      object: "product",
      source_id: shirt,
      price: 2_000,
      image_url: null,
      updated_at: null,
      skus: { object: "list", data_ref: "data", data: [], total: 0 },
    });
    expect(product["id"]).toMatch(/^prod_/);

    const path = `/v1/products/${shirt}/skus`;
    const sku = await ok(
      api.post(path, { source_id: large, sku: "Large", attributes: { size: "L" } }),
    );
    expect(sku).toMatchObject({
      object: "sku",
      product_id: product["id"],
      price: 2_000,
      attributes: { size: "L" },
      product: { object: "product", id: product["id"], name: "Shirt" },
    });
    expect(await ok(api.get(`/v1/skus/${large}`))).toEqual(sku);
    const wrong = await api.post(path, { attributes: { colour: "red" } });
    expect([wrong.status, wrong.body["key"]]).toEqual([400, "invalid_sku"]);

    const dearer = await ok(api.put(`${path}/${sku["id"]}`, { price: 2_500 }));
    expect(dearer).toMatchObject({ sku: "Large", price: 2_500, attributes: { size: "L" } });
    const again = await ok(
      api.post("/v1/products", { source_id: shirt, name: null, metadata: { year: 2026 } }),
    );
    expect(again).toMatchObject({
      id: product["id"],
      name: null,
      price: 2_000,
      metadata: { line: "summer", year: 2026 },
      skus: { total: 1, data: [{ id: sku["id"], price: 2_500 }] },
    });
    const listed = await ok(api.get(path));
    expect(listed).toMatchObject({ object: "list", data_ref: "skus", total: 1 });

    const other = await ok(api.post("/v1/products", { name: "Other" }));
    const foreign = await api.put(`/v1/products/${other["id"]}/skus/${large}`, { price: 1 });
    expect([foreign.status, foreign.body["resource_type"]]).toEqual([404, "sku"]);
    const duplicate = await api.put(`/v1/products/${other["id"]}`, { source_id: shirt });
    expect([duplicate.status, duplicate.body["key"]]).toEqual([409, "duplicate_found"]);

    expect((await api.delete(`/v1/products/${shirt}?force=true`)).status).toBe(204);
    expect((await api.get(`/v1/products/${product["id"]}`)).body["details"]).toBe(
      `Cannot find product with id ${product["id"]}`,
    );
    expect((await api.get(`/v1/skus/${sku["id"]}`)).status).toBe(404);
  });

  test("lists products oldest first, filtered by creation time", async () => {
    const names = [newCode("p"), newCode("p"), newCode("p")];
    const created: Json[] = [];
    for (const source_id of names) created.push(await ok(api.post("/v1/products", { source_id })));
    const range = `start_date=${created[0]?.["created_at"]}&end_date=${created[2]?.["created_at"]}`;
    const listed = await ok(api.get(`/v1/products?limit=2&${range}`));
    expect(listed).toMatchObject({ object: "list", data_ref: "products", total: 3 });
    expect(listed["products"].map((each: Json) => each["source_id"])).toEqual(names.slice(0, 2));
    const newest = await ok(api.get(`/v1/products?limit=1&order=-created_at&${range}`));
    expect(newest["products"][0].source_id).toBe(names[2]);
  });

  test("creates one product when concurrent requests use the same source id", async () => {
    const sourceId = newCode("race");
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => ok(api.post("/v1/products", { source_id: sourceId }))),
    );
    expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  });

  test("takes prices from the catalogue when the request has none", async () => {
    const [shirt, large, code] = [newCode("shirt"), newCode("large"), newCode("HALF")];
    const product = await ok(api.post("/v1/products", { source_id: shirt, name: "S", price: 200 }));
    await ok(api.post(`/v1/products/${shirt}/skus`, { source_id: large, price: 300 }));
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "PERCENT", percent_off: 50 },
      }),
    );
    const order = {
      items: [
        { source_id: shirt, quantity: 2 },
        { source_id: large, related_object: "sku" },
        { sku: { source_id: large }, product: { price: 250 } },
        { product_id: product["id"], price: 1 },
        { source_id: "unknown", price: 49 },
      ],
    };
    const validated = await ok(api.post(`/v1/vouchers/${code}/validate`, { order }));
    expect(validated["order"]).toMatchObject({
      amount: 1_000,
      total_amount: 500,
      items: [
        { price: 200, product_id: product["id"], product: { name: "S" } },
        { price: 300, product_id: product["id"], sku: { source_id: large } },
        { price: 250 },
        { price: 1 },
        { price: 49 },
      ],
    });
    const redeemed = await ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    expect(redeemed["order"]).toMatchObject({ amount: 1_000, total_amount: 500 });
    expect(await ok(api.post("/v1/orders", order))).toMatchObject({ amount: 1_000 });
  });

  test("rejects the deletion of what earning rules and rewards refer to", async () => {
    const { campaignId } = await createLoyaltyProgram(api);
    const [source, prize] = [newCode("tea"), newCode("mug")];
    const { id: product } = await ok(api.post("/v1/products", { source_id: source }));
    const { id: rewarded } = await ok(api.post("/v1/products", { source_id: prize }));
    const { id: collection } = await ok(
      api.post("/v1/product-collections", { name: "Teas", type: "STATIC", products: [] }),
    );
    const { id: rule } = await ok(api.post("/v1/validation-rules", { name: "Any", rules: {} }));
    const earning = (targets: readonly Json[]): Json => ({
      event: "order.paid",
      loyalty: {
        type: "PROPORTIONAL",
        calculation_type: "ORDER_ITEMS_AMOUNT",
        order_items: { amount: { every: 100, points: 1, applicable_to: targets } },
      },
    });
    const earningRules = `/v1/loyalties/${campaignId}/earning-rules`;
    const rules = (await ok(
      api.post(earningRules, [
        { ...earning([{ object: "product", id: product }]), validation_rule_id: rule },
        earning([{ object: "products_collection", id: collection }]),
      ]),
    )) as unknown as readonly Json[];
    const { id: reward } = await ok(
      api.post("/v1/rewards", {
        name: "Mug",
        type: "MATERIAL",
        parameters: { product: { id: rewarded } },
      }),
    );
    const paths = [
      [`/v1/validation-rules/${rule}`, "earning_rule", rules[0]?.["id"]],
      [`/v1/products/${source}`, "earning_rule", rules[0]?.["id"]],
      [`/v1/product-collections/${collection}`, "earning_rule", rules[1]?.["id"]],
      [`/v1/products/${prize}?force=true`, "reward", reward],
    ] as const;
    for (const [path, type, id] of paths) {
      expect((await api.delete(path)).body, path).toMatchObject({
        code: 400,
        key: "resource_in_use",
        related_object_type: type,
        related_object_ids: [id],
        related_object_total: 1,
      });
    }
    for (const one of rules) await api.delete(`${earningRules}/${one["id"]}`);
    await api.delete(`/v1/rewards/${reward}`);
    for (const [path] of paths) expect((await api.delete(path)).status, path).toBe(204);
  });
});
