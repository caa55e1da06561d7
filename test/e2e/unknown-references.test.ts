import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok, orderAbove, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("references to objects that do not exist (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { id: product } = await ok(api.post("/v1/products", { source_id: newCode("tea") }));
  const { id: sku } = await ok(api.post(`/v1/products/${product}/skus`, { sku: "green" }));
  const { id: collection } = await ok(
    api.post("/v1/product-collections", { name: "None", type: "STATIC", products: [] }),
  );
  const { id: segment } = await ok(
    api.post("/v1/segments", { name: "Few", type: "static", customers: [] }),
  );
  const { id: promotion } = await ok(
    api.post("/v1/campaigns", { name: newCode("promotion"), campaign_type: "PROMOTION" }),
  );

  const scope = (list: string, ...entries: readonly Json[]): Json => ({
    applicable_to: { [list]: entries },
  });
  const ruleOf = (name: string, conditions: Json): Json => ({
    rules: {
      "1": { name: "order.amount", conditions: { $more_than: [1] } },
      "2": { name, conditions },
    },
  });
  const bundle = (id: string): Json => ({
    bundle_rules: {
      "1": { name: "order.items.any", conditions: { $is: [{ object: "sku", id: sku }, id] } },
    },
  });

  test.each<[string, Json]>([
    [
      "applicable_to.included.1.id: no product 'prod_x'",
      scope("included", { object: "product", id: product }, { object: "product", id: "prod_x" }),
    ],
    [
      "applicable_to.excluded.0.id: no sku 'sku_x'",
      scope("excluded", { object: "sku", id: "sku_x" }),
    ],
    [
      "applicable_to.included.0.product_id: no product 'prod_x'",
      scope("included", { object: "sku", id: sku, product_id: "prod_x" }),
    ],
    [
      "applicable_to.included.0.id: no products_collection 'mine'",
      scope("included", { object: "products_collection", id: "mine" }),
    ],
    [
      "rules.2.conditions.$is.0: no product 'prod_x'",
      ruleOf("order.items.any", { $is: [{ object: "product", id: "prod_x" }] }),
    ],
    ["rules.2.conditions.$not_in.1: no sku 'sku_x'", ruleOf("sku.id", { $not_in: [sku, "sku_x"] })],
    [
      "rules.2.conditions.$from.0: no products_collection 'pc_x'",
      ruleOf("order.items.cheapest", { $is: [product], $from: ["pc_x"] }),
    ],
    [
      "rules.2.conditions.$is.1: no segment 'seg_x'",
      ruleOf("customer.segment", { $is: [segment, "seg_x"] }),
    ],
    ["bundle_rules.1.conditions.$is.1: no products_collection 'pc_x'", bundle("pc_x")],
  ])("are rejected in validation rules: %s", async (details, body) => {
    const rule = await ok(api.post("/v1/validation-rules", { rules: orderAbove(1) }));
    for (const response of [
      await api.post("/v1/validation-rules", body),
      await api.put(`/v1/validation-rules/${rule["id"]}`, body),
    ]) {
      expect(response.body).toMatchObject({ code: 400, key: "invalid_validation_rules", details });
    }
  });

  test("are rejected in unit discounts and in rewards of products", async () => {
    const unit = (unitType: string): Json => ({
      effect: "ADD_NEW_ITEMS",
      unit_off: 1,
      unit_type: unitType,
    });
    const one = { type: "UNIT", ...unit("prod_x") };
    const many = { type: "UNIT", effect: "ADD_MANY_ITEMS", units: [unit(product), unit("none")] };
    const voucher = { type: "DISCOUNT_VOUCHER", discount: one };
    const { code } = await ok(api.post("/v1/vouchers", { ...voucher, discount: TEN_PERCENT }));
    const reward = (fields: Json): Json => ({ type: "MATERIAL", parameters: { product: fields } });
    const tier = { name: "tier", action: { discount: many } };
    const other = await ok(api.post("/v1/products", { name: "Coffee" }));
    const responses = [
      await api.post("/v1/vouchers", voucher),
      await api.put(`/v1/vouchers/${code}`, { discount: many }),
      await api.post("/v1/campaigns", { name: newCode("campaign"), voucher }),
      await api.post(`/v1/promotions/${promotion}/tiers`, tier),
      await api.post("/v1/rewards", reward({ id: "prod_x" })),
      await api.post("/v1/rewards", reward({ id: product, sku_id: product })),
      await api.post("/v1/rewards", reward({ id: other["id"], sku_id: sku })),
    ];
    expect(responses.map(({ body }) => `${body["key"]} ${body["details"]}`)).toEqual([
      "invalid_payload discount.unit_type: no product or sku 'prod_x'",
      "invalid_payload discount.units.1.unit_type: no product or sku 'none'",
      "invalid_payload voucher.discount.unit_type: no product or sku 'prod_x'",
      "invalid_payload action.discount.units.1.unit_type: no product or sku 'none'",
      "invalid_payload parameters.product.id: no product 'prod_x'",
      `invalid_payload parameters.product.sku_id: no sku '${product}'`,
      `invalid_payload parameters.product.sku_id: the sku '${sku}' belongs to another product`,
    ]);
  });

  test("do not include source ids of products in rewards, which store their ids", async () => {
    const [tea, green] = [newCode("tea"), newCode("green")];
    const { id } = await ok(api.post("/v1/products", { source_id: tea }));
    const { id: sku_id } = await ok(api.post(`/v1/products/${tea}/skus`, { source_id: green }));
    const parameters = { product: { id: tea, sku_id: green } };
    const stored = await ok(api.post("/v1/rewards", { type: "MATERIAL", parameters }));
    expect(stored).toMatchObject({ parameters: { product: { id, sku_id } } });
  });

  test("are accepted where a product need not be in the catalogue, and after the object was deleted", async () => {
    const { id: gone } = await ok(api.post("/v1/products", { name: "Gone" }));
    const rule = await ok(
      api.post("/v1/validation-rules", {
        rules: {
          "1": { name: "order.items.any", conditions: { $is: ["anything", sku, collection] } },
        },
        ...scope(
          "included",
          { object: "product", id: "shirt" },
          { object: "sku", source_id: "sku_x" },
          { object: "product", id: gone },
        ),
      }),
    );
    expect((await api.delete(`/v1/products/${gone}`)).status).toBe(204);
    const path = `/v1/validation-rules/${rule["id"]}`;
    expect((await ok(api.put(path, { name: "Renamed" })))["applicable_to"]).toEqual(
      rule["applicable_to"],
    );
  });

  test("do not change the response of a repeated request", async () => {
    const { id: gone } = await ok(api.post("/v1/products", { name: "Gone" }));
    const discount = { type: "UNIT", effect: "ADD_NEW_ITEMS", unit_off: 1, unit_type: gone };
    const repeat = (unitType: string) =>
      api.post(
        "/v1/vouchers",
        { type: "DISCOUNT_VOUCHER", discount: { ...discount, unit_type: unitType } },
        { "idempotency-key": `voucher-of-${unitType}` },
      );
    const made = await repeat(gone);
    const rejected = await repeat("later");
    expect((await api.delete(`/v1/products/${gone}`)).status).toBe(204);
    await ok(api.post("/v1/products", { source_id: "later" }));
    expect([made.status, (await repeat(gone)).text]).toEqual([200, made.text]);
    expect([rejected.status, (await repeat("later")).text]).toEqual([400, rejected.text]);
  });

  test("are rejected with not_found where the request consists of them", async () => {
    const nobody = { customer: newCode("ann") };
    const requests: [string, Json][] = [
      [`/v1/promotions/${promotion}/stacks`, { name: "stack", tiers: { ids: ["promo_x"] } }],
      ["/v1/publications", { ...nobody, campaign: "none" }],
      ["/v1/publications", { ...nobody, voucher: "none" }],
      ["/v1/publications", { customer: "cust_x", campaign: "none" }],
      ["/v1/segments", { name: "Few", type: "static", customers: ["cust_x"] }],
      [
        "/v1/product-collections",
        { name: "c", type: "STATIC", products: [{ object: "product", id: "prod_x" }] },
      ],
      ["/v1/rewards", { type: "CAMPAIGN", parameters: { campaign: { id: "camp_x" } } }],
      ["/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT, category_id: "cat_x" }],
      ["/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT, campaign_id: "camp_x" }],
      [
        "/v1/vouchers",
        { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT, validation_rules: ["val_x"] },
      ],
    ];
    for (const [path, body] of requests) {
      const response = await api.post(path, body);
      expect([response.status, response.body["key"]], path + response.text).toEqual([
        404,
        "not_found",
      ]);
    }
  });
});
