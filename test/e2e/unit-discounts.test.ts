import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  type Api,
  inParallel,
  type Json,
  newCode,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("unit discounts (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { product, sku, voucher, rule, campaign } = shopOf(api);

  test("a unit discount is stored, returned and updated", async () => {
    const mug = await product({ price: 1000 });
    const discount = {
      type: "UNIT",
      effect: "ADD_MANY_ITEMS",
      units: [
        { effect: "ADD_NEW_ITEMS", unit_off: 1, unit_type: mug["id"] },
        {
          effect: "ADD_MISSING_ITEMS",
          unit_off: 2,
          unit_off_formula: "ORDER_AMOUNT / 10",
          unit_type: mug["id"],
        },
      ],
    };
    const code = await voucher({ discount });
    const summary = { id: mug["id"], source_id: mug["source_id"] };
    expect((await ok(api.get(`/v1/vouchers/${code}`)))["discount"]).toMatchObject({
      ...discount,
      units: discount.units.map((unit) => ({ ...unit, product: summary })),
    });
    const changed = await ok(
      api.put(`/v1/vouchers/${code}`, {
        discount: { type: "UNIT", effect: "ADD_NEW_ITEMS", unit_off: 3, unit_type: mug["id"] },
      }),
    );
    expect(changed["discount"]).toMatchObject({
      effect: "ADD_NEW_ITEMS",
      unit_off: 3,
      product: summary,
    });
    expect(changed["discount"]).not.toHaveProperty("sku");
    expect(changed["discount"]).not.toHaveProperty("units");
  });

  test.each([
    [{ unit_type: "mug" }, "Property .discount.unit_off is required for a discount of type UNIT"],
    [{ unit_off: 1 }, "Property .discount.unit_type is required for effect ADD_MISSING_ITEMS"],
    [
      { effect: "ADD_MANY_ITEMS" },
      "Property .discount.units is required for effect ADD_MANY_ITEMS",
    ],
    [
      { effect: "APPLY_TO_ITEMS", unit_off: 1, unit_type: "mug" },
      "Effect APPLY_TO_ITEMS is not available for a discount of type UNIT",
    ],
    [
      { unit_off: 1, unit_type: "mug", unit_off_formula: "1 +" },
      "Property .discount.unit_off_formula is not a formula: it ends too early",
    ],
  ])("an invalid unit discount is rejected: %o", async (units, details) => {
    const { id } = await product({ price: 1000 });
    const discount = { type: "UNIT", ...units, ...("unit_type" in units && { unit_type: id }) };
    const body = { type: "DISCOUNT_VOUCHER", discount };
    const { status, body: error } = await api.post("/v1/vouchers", body);
    expect([status, error["key"], error["details"]]).toEqual([400, "invalid_voucher", details]);
  });

  test("a response describes the free units and adds them to the order", async () => {
    const shirt = await product({ name: "Shirt", price: 2000 });
    const large = await sku(shirt["id"], { sku: "shirt-l", price: 2400 });
    const discount = { type: "UNIT", effect: "ADD_NEW_ITEMS", unit_off: 2, unit_type: large["id"] };
    const code = await voucher({ discount });
    const response = await ok(
      api.post(`/v1/vouchers/${code}/validate`, {
        order: { items: [{ product_id: shirt["id"] }] },
      }),
    );
    expect(response).toMatchObject({
      valid: true,
      discount: {
        ...discount,
        is_dynamic: false,
        product: { id: shirt["id"], source_id: shirt["source_id"], name: "Shirt" },
        sku: { id: large["id"], source_id: large["source_id"], sku: "shirt-l" },
      },
      order: {
        amount: 6800,
        initial_amount: 2000,
        items_applied_discount_amount: 4800,
        total_amount: 2000,
        items: [
          {
            product_id: shirt["id"],
            product: { id: shirt["id"], name: "Shirt", price: 2000 },
            quantity: 1,
            applied_quantity: 0,
          },
          {
            object: "order_item",
            product_id: shirt["id"],
            sku_id: large["id"],
            related_object: "sku",
            product: { id: shirt["id"], name: "Shirt", price: 2000 },
            sku: { id: large["id"], sku: "shirt-l", price: 2400 },
            quantity: 2,
            initial_quantity: 0,
            discount_quantity: 2,
            price: 2400,
            amount: 4800,
            initial_amount: 0,
            discount_amount: 4800,
            applied_discount_amount: 4800,
            applied_discount_quantity: 2,
            applied_quantity: 2,
            applied_quantity_amount: 4800,
            subtotal_amount: 0,
          },
        ],
      },
    });
  });

  test("a discount with several units describes each of them", async () => {
    const [mug, tea] = [await product({ price: 1000 }), await product({ price: 700 })];
    const units = [
      { effect: "ADD_NEW_ITEMS", unit_off: 9, unit_off_formula: "1 + 1", unit_type: mug["id"] },
      { effect: "ADD_MISSING_ITEMS", unit_off: 1, unit_type: tea["source_id"] },
    ];
    const code = await voucher({ discount: { type: "UNIT", effect: "ADD_MANY_ITEMS", units } });
    const response = await ok(
      api.post(`/v1/vouchers/${code}/validate`, { order: { amount: 500 } }),
    );
    expect(response).toMatchObject({
      discount: {
        is_dynamic: true,
        units: [
          { unit_off: 2, is_dynamic: true, product: { id: mug["id"] } },
          { unit_off: 1, is_dynamic: false, product: { id: tea["id"] } },
        ],
      },
      order: { amount: 3200, total_amount: 500, items: [{ quantity: 2 }, { quantity: 1 }] },
    });
  });

  test("replaced units include the original and the new product", async () => {
    const [shirt, bottle] = [await product({ price: 2000 }), await product({ price: 2500 })];
    const included = [{ object: "product", id: shirt["id"], quantity_limit: 1 }];
    const code = await voucher({
      discount: { type: "UNIT", effect: "REPLACE_ITEMS", unit_off: 1, unit_type: bottle["id"] },
      validation_rules: [await rule({ applicable_to: { included } })],
    });
    const order = { items: [{ product_id: shirt["id"], quantity: 3 }] };
    const { order: calculated } = await ok(api.post(`/v1/vouchers/${code}/validate`, { order }));
    const application_details = [
      {
        source_index: 0,
        source_applied_quantity: -1,
        source_applied_quantity_amount: -2000,
        target_index: 1,
        target_applied_quantity: 1,
        target_applied_quantity_amount: 2500,
        target_applied_discount_amount: 500,
      },
    ];
    expect(calculated).toMatchObject({
      amount: 6500,
      initial_amount: 6000,
      total_amount: 6000,
      items: [
        { quantity: 2, initial_quantity: 3, applied_quantity: -1, application_details },
        { quantity: 1, initial_quantity: 0, discount_amount: 500, application_details },
      ],
    });
  });

  test("free units are stored with the order, and removed by a rollback", async () => {
    const mug = await product({ price: 1000 });
    const code = await voucher({
      discount: { type: "UNIT", effect: "ADD_NEW_ITEMS", unit_off: 2, unit_type: mug["id"] },
    });
    const order = { source_id: newCode("order"), items: [{ quantity: 1, price: 5000 }] };
    const created = await ok(api.post(`/v1/vouchers/${code}/redemption`, { order }));
    const stored = await ok(api.get(`/v1/orders/${order.source_id}`));
    expect(stored).toMatchObject({
      amount: 7000,
      total_amount: 5000,
      items: [{ quantity: 1 }, { product_id: mug["id"], quantity: 2, discount_amount: 2000 }],
    });
    const [, free] = stored["items"];
    expect(free.id).toMatch(/^ordli_/);

    // The next redeemable starts from the stored order.
    const ten = await voucher({ discount: { type: "PERCENT", percent_off: 10 } });
    const later = await ok(
      api.post(`/v1/vouchers/${ten}/validate`, { order: { id: stored["id"] } }),
    );
    expect(later["order"]).toMatchObject({
      amount: 7000,
      discount_amount: 500,
      total_amount: 4500,
    });

    await ok(api.post(`/v1/redemptions/${created["id"]}/rollback`, {}));
    expect(await ok(api.get(`/v1/orders/${order.source_id}`))).toMatchObject({
      status: "CANCELED",
      amount: 5000,
      total_amount: 5000,
      items: [{ quantity: 1, discount_amount: 0 }],
    });
  });

  test("applicable_to lists the limits of a voucher, and the items of the order they match", async () => {
    const [shirt, mug] = [await product({ price: 2000 }), await product({ price: 1000 })];
    const entry = {
      object: "product",
      id: shirt["id"],
      effect: "APPLY_FROM_CHEAPEST",
      target: "UNIT",
      skip_initially: 1,
      repeat: 2,
    };
    const code = await voucher({
      discount: { type: "PERCENT", percent_off: 50 },
      validation_rules: [
        await rule({
          applicable_to: { included: [entry], excluded: [{ object: "product", id: mug["id"] }] },
        }),
      ],
    });
    const order = {
      items: [
        { product_id: mug["id"], quantity: 1 },
        { product_id: shirt["id"], quantity: 5 },
      ],
    };
    const lists = {
      applicable_to: {
        object: "list",
        data_ref: "data",
        total: 1,
        data: [
          {
            ...entry,
            source_id: shirt["source_id"],
            order_item_indices: [1],
            order_item_units: [{ index: 1, units: [2, 4] }],
          },
        ],
      },
      inapplicable_to: {
        total: 1,
        data: [{ object: "product", id: mug["id"], order_item_indices: [0] }],
      },
    };
    expect(await ok(api.post(`/v1/vouchers/${code}/validate`, { order }))).toMatchObject({
      ...lists,
      discount: { effect: "APPLY_TO_ITEMS" },
      order: { items: [{ discount_amount: 0 }, { discount_amount: 2000, discount_quantity: 2 }] },
    });
    const body = { redeemables: [{ object: "voucher", id: code }], order };
    expect((await ok(api.post("/v1/validations", body)))["redeemables"]).toMatchObject([lists]);

    const headers = { "idempotency-key": newCode("key") };
    const redeemed = await api.post("/v1/redemptions", body, headers);
    expect(redeemed.body["redemptions"], redeemed.text).toMatchObject([{ voucher: lists }]);
    const repeated = await api.post("/v1/redemptions", body, headers);
    expect(repeated.text).toBe(redeemed.text);
    const unlimited = await voucher({ discount: { type: "PERCENT", percent_off: 10 } });
    const alone = await ok(api.post(`/v1/vouchers/${unlimited}/redemption`, { order }));
    expect(alone["voucher"]).toMatchObject({
      applicable_to: { object: "list", data_ref: "data", data: [], total: 0 },
      inapplicable_to: { object: "list", data_ref: "data", data: [], total: 0 },
    });

    for (const { id, voucher: shown } of [redeemed.body["redemptions"][0], alone]) {
      const { applicable_to, inapplicable_to } = shown;
      const stored = { id, voucher: { applicable_to, inapplicable_to } };
      expect(await ok(api.get(`/v1/redemptions/${id}`))).toMatchObject(stored);
      const filter = `filters[id][conditions][$is]=${id}`;
      expect((await ok(api.get(`/v1/redemptions?${filter}`)))["redemptions"]).toMatchObject([
        stored,
      ]);
      const ofVoucher = await ok(api.get(`/v1/vouchers/${shown.code}/redemption`));
      expect(ofVoucher["redemption_entries"]).toMatchObject([stored]);
    }
  });

  test("a limit on discounted units spans redemptions, is restored by rollbacks, and holds under concurrency", async () => {
    const mug = await product({ price: 1000 });
    const included = [{ object: "product", id: mug["id"], product_campaign_quantity_limit: 10 }];
    const id = await campaign({
      discount: { type: "PERCENT", percent_off: 100 },
      rules: [await rule({ applicable_to: { included } })],
    });
    const codes = await Promise.all(Array.from({ length: 12 }, () => codeIn(id)));
    const redeem = (code: string | undefined, quantity: number): Promise<ApiResponse> =>
      api.post(`/v1/vouchers/${code}/redemption`, {
        order: { items: [{ product_id: mug["id"], quantity }] },
      });
    // See docs/order-calculation.md#selecting-lines-and-units.
    const first = await ok(redeem(codes[0], 5));
    const discounts = [first, await ok(redeem(codes[1], 4)), await ok(redeem(codes[2], 3))].map(
      ({ order }) => order.items_discount_amount,
    );
    expect(discounts).toEqual([5000, 4000, 1000]);

    await ok(api.post(`/v1/redemptions/${first["id"]}/rollback`, {}));
    const responses = await inParallel(codes.slice(3), 9, (code) => redeem(code, 2));
    const discountedUnits = responses.map(({ status, text, body }) => {
      expect(status, text).toBe(200);
      return body["order"].items_discount_amount as number;
    });
    expect(discountedUnits.reduce((sum, amount) => sum + amount, 0)).toBe(5000);
  });

  async function codeIn(campaignId: string): Promise<string> {
    return (await ok(api.post(`/v1/campaigns/${campaignId}/vouchers`, {})))["code"];
  }
});

async function ok(request: Promise<ApiResponse>): Promise<Json> {
  const { status, text, body } = await request;
  expect(status, text).toBe(200);
  return body;
}

const shopOf = (api: Api) => ({
  product: (fields: Json): Promise<Json> =>
    ok(api.post("/v1/products", { source_id: newCode("p"), ...fields })),
  sku: (productId: string, fields: Json): Promise<Json> =>
    ok(api.post(`/v1/products/${productId}/skus`, { source_id: newCode("s"), ...fields })),
  rule: async (fields: Json): Promise<string> =>
    (await ok(api.post("/v1/validation-rules", { name: newCode("rule"), rules: {}, ...fields })))[
      "id"
    ],
  voucher: async (fields: Json): Promise<string> => {
    const body = { code: newCode("UNITS"), type: "DISCOUNT_VOUCHER", ...fields };
    return (await ok(api.post("/v1/vouchers", body)))["code"];
  },
  campaign: async ({ discount, rules }: { discount: Json; rules: string[] }): Promise<string> => {
    const body = {
      name: newCode("campaign"),
      campaign_type: "DISCOUNT_COUPONS",
      voucher: { type: "DISCOUNT_VOUCHER", discount, redemption: { quantity: 1 } },
      validation_rules: rules,
    };
    return (await ok(api.post("/v1/campaigns", body)))["id"];
  },
});
