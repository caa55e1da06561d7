import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("product collections (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const product = (fields: Json = {}): Promise<Json> =>
    ok(api.post("/v1/products", { source_id: newCode("p"), ...fields }));
  const sku = (productId: string, fields: Json = {}): Promise<Json> =>
    ok(api.post(`/v1/products/${productId}/skus`, { source_id: newCode("s"), ...fields }));

  test("a static collection contains the listed products and SKUs", async () => {
    const [shirt, mug] = [await product(), await product()];
    const red = await sku(mug["id"]);
    const collection = await ok(
      api.post("/v1/product-collections", {
        name: "Summer",
        type: "STATIC",
        products: [
          { id: shirt["id"], object: "product" },
          { id: red["id"], product_id: mug["id"], object: "sku" },
        ],
      }),
    );
    expect(collection).toMatchObject({
      object: "products_collection",
      name: "Summer",
      type: "STATIC",
      filter: null,
      products: [
        { id: shirt["id"], object: "product" },
        { id: red["id"], object: "sku", product_id: mug["id"] },
      ],
    });
    expect(collection["id"]).toMatch(/^pc_[0-9a-f]{18}$/);
    const path = `/v1/product-collections/${collection["id"]}`;
    expect(await ok(api.get(path))).toEqual(collection);
    expect(await ok(api.get(`${path}/products`))).toEqual({
      object: "list",
      data_ref: "data",
      data: [
        {
          id: red["id"],
          source_id: red["source_id"],
          product_id: mug["id"],
          object: "sku",
          created_at: red["created_at"],
        },
        {
          id: shirt["id"],
          source_id: shirt["source_id"],
          object: "product",
          created_at: shirt["created_at"],
        },
      ],
      total: 2,
      has_more: false,
    });

    const inUse = await api.delete(`/v1/products/${shirt["id"]}`);
    expect([inUse.status, inUse.body]).toMatchObject([
      400,
      {
        key: "resource_in_use",
        resource_id: shirt["id"],
        related_object_ids: [collection["id"]],
        related_object_type: "products_collection",
        related_object_total: 1,
      },
    ]);
    expect((await api.delete(path)).status).toBe(204);
    expect((await api.delete(path)).body["details"]).toBe(
      `Cannot find products_collection with id ${collection["id"]}`,
    );
    expect((await api.delete(`/v1/products/${shirt["id"]}`)).status).toBe(204);
  });

  test("a dynamic collection contains what matches its filter now", async () => {
    const line = newCode("line");
    const shirt = await product({ price: 500, metadata: { line } });
    const large = await sku(shirt["id"], { metadata: { line }, price: 700 });
    await sku(shirt["id"]);
    const filter = {
      junction: "and",
      "metadata.line": { conditions: { $is: line } },
      price: { conditions: { $more_than: 400 } },
    };
    const { id } = await ok(
      api.post("/v1/product-collections", { name: "Line", type: "AUTO_UPDATE", filter }),
    );
    const members = async (query = ""): Promise<unknown[]> =>
      (await ok(api.get(`/v1/product-collections/${id}/products${query}`)))["data"].map(
        (each: Json) => each["id"],
      );
    expect(await ok(api.get(`/v1/product-collections/${id}`))).toMatchObject({
      filter,
      products: [],
    });
    expect(await members("?order=created_at")).toEqual([shirt["id"], large["id"]]);
    expect(await members("?limit=1")).toEqual([large["id"]]);
    await ok(api.put(`/v1/products/${shirt["id"]}`, { price: 300 }));
    expect(await members()).toEqual([large["id"]]);
  });

  test("collections are listed newest first, page by page", async () => {
    const filter = { junction: "or", name: { conditions: { $is: "x" } } };
    const createdIds: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const body = { name, type: "AUTO_UPDATE", filter };
      createdIds.push((await ok(api.post("/v1/product-collections", body)))["id"]);
    }
    const firstPage = await ok(api.get("/v1/product-collections?limit=2"));
    expect(firstPage).toMatchObject({ object: "list", data_ref: "data" });
    expect(firstPage["data"].map(({ id }: Json) => id)).toEqual([createdIds[2], createdIds[1]]);
  });

  const dynamic = { name: "n", type: "AUTO_UPDATE" };
  test.each<[string, Json, number, string]>([
    ["no name", { type: "STATIC", products: [] }, 400, "invalid_payload"],
    ["no type", { name: "n" }, 400, "invalid_payload"],
    ["a filter without a junction", { ...dynamic, filter: {} }, 400, "invalid_payload"],
    [
      "a filter on an unknown field",
      { ...dynamic, filter: { junction: "and", colour: { conditions: { $is: "red" } } } },
      400,
      "invalid_payload",
    ],
    [
      "an unknown product",
      { name: "n", type: "STATIC", products: [{ id: "prod_x", object: "product" }] },
      404,
      "not_found",
    ],
    [
      "too many products",
      {
        name: "n",
        type: "STATIC",
        products: Array.from({ length: 21 }, (_, i) => ({ id: `p${i}`, object: "product" })),
      },
      400,
      "invalid_payload",
    ],
  ])("a collection with %s is rejected", async (_name, body, status, key) => {
    const response = await api.post("/v1/product-collections", body);
    expect([response.status, response.body["key"]], response.text).toEqual([status, key]);
  });

  test("a dynamic collection with an incomplete filter is rejected with the missing field", async () => {
    const { body } = await api.post("/v1/product-collections", dynamic);
    expect(body["details"]).toBe(
      "'AUTO_UPDATE' collection must contain valid filter with 'junction' property",
    );
  });

  test("a stored order overrides the catalogue where its items request it", async () => {
    const [shirt, mug] = [newCode("shirt"), newCode("mug")];
    await product({ source_id: shirt, name: "Shirt", price: 500, metadata: { a: 1 } });
    await ok(
      api.post("/v1/orders", {
        items: [
          { source_id: shirt, product: { override: true, price: 450, metadata: { b: 2 } } },
          {
            product: { source_id: mug, name: "Mug", override: true },
            sku: { source_id: `${mug}-red`, sku: "Red", price: 300, override: true },
          },
        ],
      }),
    );
    expect(await ok(api.get(`/v1/products/${shirt}`))).toMatchObject({
      name: "Shirt",
      price: 450,
      metadata: { a: 1, b: 2 },
    });
    expect(await ok(api.get(`/v1/skus/${mug}-red`))).toMatchObject({
      sku: "Red",
      price: 300,
      product: { source_id: mug, name: "Mug" },
    });
  });

  const voucher = async (rules: unknown[] = []): Promise<string> => {
    const code = newCode("TEN");
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
        validation_rules: rules,
      }),
    );
    return code;
  };

  test("a dynamic collection contains a product that the order describes, before and after it is stored", async () => {
    const [color, source_id, code] = [newCode("color"), newCode("hat"), newCode("TEN")];
    const filter = { junction: "and", "metadata.color": { conditions: { $is: [color] } } };
    const { id } = await ok(
      api.post("/v1/product-collections", { name: "Color", type: "AUTO_UPDATE", filter }),
    );
    const collection = { object: "products_collection", id };
    const { id: rule } = await ok(
      api.post("/v1/validation-rules", {
        name: "Color",
        rules: { 1: { name: "order.items.any", conditions: { $is: [collection] } }, logic: "1" },
        applicable_to: { included: [collection] },
      }),
    );
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ITEMS" },
        redemption: { quantity: null },
        validation_rules: [rule],
      }),
    );
    const inline = { override: true, name: "Hat", metadata: { color } };
    const order = { items: [{ source_id, price: 100, product: inline }] };
    const redeem = (): Promise<Json> => ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    expect((await redeem())["order"]).toMatchObject({ total_discount_amount: 10 });
    expect(await ok(api.get(`/v1/products/${source_id}`))).toMatchObject({ metadata: { color } });
    expect((await redeem())["order"]).toMatchObject({ total_discount_amount: 10 });
  });

  test("a redemption overrides the catalogue; a validation does not", async () => {
    const code = await voucher();
    const source_id = newCode("new");
    const order = { items: [{ product: { source_id, override: true, price: 900 } }] };
    const validated = await ok(api.post(`/v1/vouchers/${code}/validate`, { order }));
    expect(validated["order"]).toMatchObject({ amount: 900 });
    expect((await api.get(`/v1/products/${source_id}`)).status).toBe(404);
    await ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    expect(await ok(api.get(`/v1/products/${source_id}`))).toMatchObject({ price: 900 });
  });

  test("a collection that a rule refers to cannot be deleted", async () => {
    const line = newCode("line");
    const [listed, other] = [await product({ metadata: { line } }), await product()];
    const large = await sku(other["id"], { metadata: { line } });
    const filter = { junction: "and", "metadata.line": { conditions: { $is: line } } };
    const bodies: [Json, boolean[]][] = [
      [
        { type: "STATIC", products: [{ id: listed["id"], object: "product" }] },
        [true, false, false],
      ],
      [{ type: "AUTO_UPDATE", filter }, [true, false, true]],
    ];
    for (const [body, expected] of bodies) {
      const { id } = await ok(api.post("/v1/product-collections", { name: "c", ...body }));
      const item = { id, object: "products_collection", type: "products_collection" };
      const rules = { 1: { name: "order.items.any", conditions: { $is: [item] } }, logic: "1" };
      const rule = await ok(api.post("/v1/validation-rules", { name: "Line only", rules }));
      const code = await voucher([rule["id"]]);
      const lines = [
        { product_id: listed["id"] },
        { product_id: other["id"] },
        { sku_id: large["id"] },
      ];
      const valid: unknown[] = [];
      for (const fields of lines) {
        const order = { items: [{ ...fields, price: 500 }] };
        valid.push((await ok(api.post(`/v1/vouchers/${code}/validate`, { order })))["valid"]);
      }
      expect(valid, body["type"]).toEqual(expected);
      const inUse = await api.delete(`/v1/product-collections/${id}`);
      expect([inUse.status, inUse.body]).toMatchObject([
        400,
        { key: "resource_in_use", related_object_ids: [rule["id"]] },
      ]);
    }
  });

  test("an earning rule counts the items of an order that are in its collection", async () => {
    const name = newCode("cup");
    const [listed, named] = [await product(), await product({ name })];
    const filter = { name: { conditions: { $is: [name] } }, junction: "and" };
    const [kitchen, cups] = await Promise.all(
      [
        { type: "STATIC", products: [{ id: listed["id"], object: "product" }] },
        { type: "AUTO_UPDATE", filter },
      ].map((body) => ok(api.post("/v1/product-collections", { name: "c", ...body }))),
    );
    const program = await createLoyaltyProgram(api, { points: 0 });
    const ruleOf = (collection: Json | undefined, points: number): Json => ({
      event: "order.paid",
      loyalty: {
        type: "PROPORTIONAL",
        calculation_type: "ORDER_ITEMS_AMOUNT",
        order_items: {
          amount: { every: 100, points, object: "products_collection", id: collection?.["id"] },
        },
      },
    });
    const rules = [ruleOf(kitchen, 1), ruleOf(cups, 100)];
    await expect
      .poll(
        async () =>
          (await api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, rules)).status,
      )
      .toBe(200);
    const card = await program.createCard();
    const { customer } = card;
    const items = [
      { product_id: listed["id"], quantity: 2, price: 300 },
      { product_id: named["id"], quantity: 1, price: 500 },
      { product_id: "unknown", quantity: 1, price: 900 },
    ];

    // 6 and 500 points: 600 of the listed product, 500 of the one that the filter matches.
    await ok(api.post("/v1/orders", { status: "PAID", customer, items }));
    await expect.poll(() => balanceOf(api, card)).toBe(506);
    const code = newCode("CENT");
    const discount = { type: "AMOUNT", amount_off: 1 };
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    await ok(api.post(`/v1/vouchers/${code}/redemption`, { order: { items }, customer }));
    await expect.poll(() => balanceOf(api, card)).toBe(2 * 506);
    const later = await ok(api.post("/v1/orders", { customer, items }));
    await ok(api.put(`/v1/orders/${later["id"]}`, { status: "PAID" }));
    await expect.poll(() => balanceOf(api, card)).toBe(3 * 506);
    expect(later["items"][0]).not.toHaveProperty("collection_ids");

    const path = `/v1/loyalties/${program.campaignId}/qualifications`;
    const estimates = [{ items }, { id: later["id"] }].map(
      async (order) => (await ok(api.post(path, { customer, order })))["points_estimation"],
    );
    expect(await Promise.all(estimates)).toEqual([506, 506]);
  });

  test("an earning rule counts the items of a product that their order has created", async () => {
    const source_id = newCode("hat");
    const program = await createLoyaltyProgram(api, { points: 0 });
    const card = await program.createCard();
    const line = { source_id, price: 500, product: { override: true, name: "Hat" } };
    const order = { customer: card.customer, items: [line] };
    const { id: orderId } = await ok(api.post("/v1/orders", order));
    const { id } = await ok(api.get(`/v1/products/${source_id}`));
    const order_items = { amount: { every: 100, points: 1, object: "product", id } };
    const loyalty = {
      type: "PROPORTIONAL",
      calculation_type: "ORDER_ITEMS_AMOUNT",
      order_items,
    };
    const rules = `/v1/loyalties/${program.campaignId}/earning-rules`;
    await ok(api.post(rules, [{ event: "order.paid", loyalty }]));
    await ok(api.put(`/v1/orders/${orderId}`, { status: "PAID" }));
    await expect.poll(() => balanceOf(api, card), { timeout: 20_000 }).toBe(5);
  });
});
