import { describe, expect, test } from "vitest";

import { type ApiResponse, type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** Each rule name, evaluated over HTTP on request data and on stored data. */
describe.each(COMPOSITIONS)("validation rule names (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const mug = await createResource("/v1/products", {
    name: "Mug",
    source_id: newCode("mug"),
    price: 1000,
    metadata: { kind: "cup" },
  });
  const shirt = await createResource("/v1/products", { name: "Shirt", price: 2500 });
  const large = await createResource(`/v1/products/${shirt["id"]}/skus`, { sku: "L", price: 3000 });
  const collection = await createResource("/v1/product-collections", {
    name: newCode("clothes"),
    type: "STATIC",
    products: [{ id: shirt["id"], object: "product" }],
  });
  const ann = await createResource("/v1/customers", {
    source_id: newCode("ann"),
    metadata: { age: 30, plan: "gold" },
  });
  const bob = await createResource("/v1/customers", { source_id: newCode("bob") });
  const segment = await createResource("/v1/segments", {
    name: newCode("friends"),
    type: "static",
    customers: [ann["id"]],
  });

  const asAnn = { customer: { id: ann["id"] } };
  const asBob = { customer: { id: bob["id"] } };
  const buying = (...items: readonly Json[]): Json => ({ order: { items } });
  const mugs = (quantity: number): Json => ({ product_id: mug["id"], quantity });
  const largeShirt = { sku_id: large["id"], quantity: 1, metadata: { gift: true } };
  const one = (name: string, conditions: Json, more: Json = {}): Json => ({
    "1": { name, conditions, ...more },
  });

  const cases: readonly (readonly [what: string, rules: Json, met: Json, unmet: Json])[] = [
    ["a segment", one("customer.segment", { $in: [segment["id"]] }), asAnn, asBob],
    ["no segment", one("customer.segment", { $is_not: [segment["id"]] }), asBob, asAnn],
    [
      "stored metadata",
      one("customer.metadata", { $more_than_or_equal: [30] }, { property: "age" }),
      asAnn,
      asBob,
    ],
    [
      "metadata in the request that overrides stored metadata",
      one("customer.metadata", { $is: ["tin"] }, { property: "plan" }),
      { customer: { id: ann["id"], metadata: { plan: "tin" } } },
      asAnn,
    ],
    ["an amount", one("order.amount", { $is: [2000] }), buying(mugs(2)), buying(mugs(1))],
    [
      "the remaining amount",
      one("order.total_amount", { $less_than: [1900] }),
      { order: { amount: 1999 } },
      { order: { amount: 2000 } },
    ],
    [
      "a number of items",
      one("order.items.count", { $more_than: [2] }),
      buying(mugs(2), largeShirt),
      buying(mugs(2)),
    ],
    [
      "metadata of the order",
      one("order.metadata", { $is: ["web"] }, { property: "shop" }),
      { order: { amount: 1, metadata: { shop: "web" } } },
      { order: { amount: 1 } },
    ],
    [
      "metadata of an order item",
      one("order.items.metadata_any", { $is: [true] }, { property: "gift" }),
      buying(mugs(1), largeShirt),
      buying(mugs(1)),
    ],
    [
      "prices of the catalogue",
      one("order.items.price_each", { $more_than: [1000] }),
      buying(largeShirt),
      buying(mugs(1), largeShirt),
    ],
    [
      "a product by its source id",
      one("order.items.any", { $is: [{ source_id: mug["source_id"], object: "product" }] }),
      buying(mugs(1)),
      buying(largeShirt),
    ],
    ["a SKU", one("order.items.any", { $is: [large["id"]] }), buying(largeShirt), buying(mugs(1))],
    [
      "a collection",
      one("order.items.every", {
        $is: [{ id: collection["id"], object: "products_collection" }],
      }),
      buying(largeShirt),
      buying(largeShirt, mugs(1)),
    ],
    [
      "a collection without matching items",
      one("order.items.none", { $from: [{ id: collection["id"] }] }),
      buying(mugs(1)),
      buying(largeShirt),
    ],
    [
      "the cheapest",
      one("order.items.cheapest", { $is: [mug["id"]] }),
      buying(largeShirt, mugs(1)),
      buying(largeShirt),
    ],
    [
      "the sum of units",
      one(
        "order.items.any",
        { $is: [mug["id"]] },
        { rules: one("order.items.aggregated_quantity", { $more_than: [2] }) },
      ),
      buying(mugs(1), mugs(2)),
      buying(mugs(2), largeShirt),
    ],
    [
      "metadata of products",
      one("product.metadata", { $is: ["cup"] }, { property: "kind" }),
      buying(largeShirt, mugs(1)),
      buying(largeShirt),
    ],
    [
      "metadata of the redemption",
      one("redemption.metadata", { $starts_with: ["till-"] }, { property: "place" }),
      { metadata: { place: "till-3" } },
      { metadata: { place: "shop" } },
    ],
    [
      "alternatives",
      {
        "1": { name: "customer.segment", conditions: { $is: [segment["id"]] } },
        "2": { name: "order.amount", conditions: { $more_than: [5000] } },
        logic: "1 or 2",
      },
      { order: { amount: 5001 } },
      { ...asBob, order: { amount: 5000 } },
    ],
  ];

  test.each(cases)("evaluate %s", async (_what, rules, met, unmet) => {
    const code = await codeWith(rules);
    const outcomeOf = async (body: Json) => {
      const { body: response, status, text } = await validate(code, body);
      expect(status, text).toBe(200);
      return [
        response["valid"],
        response["redeemables"][0].result.error?.key.split("_").slice(-1)[0],
      ];
    };
    expect(await outcomeOf(met)).toEqual([true, undefined]);
    expect(await outcomeOf(unmet)).toEqual([false, "violated"]);
  });

  test.each([
    ["redemption.user.login", { $is: ["ann"] }, false],
    ["redemption.user.login", { $is_not: ["ann"] }, true],
    ["redemption.count.per_user", { $less_than_or_equal: [1] }, false],
    ["redemption.count.per_user", { $is_not: [1] }, true],
  ])(
    "evaluate application credentials as having no user: %s %j",
    async (name, conditions, valid) => {
      const code = await codeWith(one(name, conditions));
      const { body } = await validate(code, { options: { expand: ["explanation"] } });
      expect(body["valid"]).toBe(valid);
      const { steps } = body["redeemables"][0].result.explanation;
      const step = steps.find((each: Json) => each["name"] === name);
      expect([step.passed, step.value ?? null]).toEqual([valid, null]);
    },
  );

  test.each([
    ["redemption.count.daily", {}],
    ["redemption.count.per_api_key", {}],
    ["redemption.count.per_customer.monthly", asAnn],
  ])("count redemptions by %s", async (name, body) => {
    const code = await codeWith(one(name, { $less_than_or_equal: [1] }));
    const first = await api.post(`/v1/vouchers/${code}/redemption`, body);
    expect(first.status, first.text).toBe(200);
    const second = await api.post(`/v1/vouchers/${code}/redemption`, body);
    expect(second.body).toMatchObject({ code: 400, key: "redemption_rules_violated" });
    const explained = await validate(code, { ...body, options: { expand: ["explanation"] } });
    expect(explained.body["redeemables"][0].result.explanation.steps).toContainEqual(
      expect.objectContaining({ name, passed: false, value: 2, used: 1, limit: 1 }),
    );
  });

  test("return the merchant's error message with a rejection", async () => {
    const rules = one("order.amount", { $more_than: [1] }, { error: { message: "Buy something" } });
    const single = await api.post(`/v1/vouchers/${await codeWith(rules)}/validate`, {
      order: { amount: 1 },
    });
    expect(single.body).toMatchObject({
      valid: false,
      reason: "redemption does not match validation rules",
      error: {
        code: 400,
        key: "redemption_rules_violated",
        error: { message: "Buy something" },
      },
    });
  });

  async function createResource(path: string, body: Json): Promise<Json> {
    const response = await api.post(path, body);
    expect(response.status, response.text).toBe(200);
    return response.body;
  }

  async function codeWith(rules: Json): Promise<string> {
    const rule = await createResource("/v1/validation-rules", { name: newCode("rule"), rules });
    const voucher = await createResource("/v1/vouchers", {
      code: newCode("RULE"),
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100, effect: "APPLY_TO_ORDER" },
      validation_rules: [rule["id"]],
    });
    return voucher["code"] as string;
  }

  const validate = (code: string, body: Json): Promise<ApiResponse> =>
    api.post("/v1/validations", { redeemables: [{ object: "voucher", id: code }], ...body });
});
