import { describe, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { untilFinished } from "../stack/uploads.ts";

describe.each(COMPOSITIONS)("imports of orders (%s)", async (composition) => {
  const api = await serverApi(await sharedStack(composition));

  test("rejects orders whose request shows that they are invalid, as POST /v1/orders does", async ({
    expect,
  }) => {
    const first = newCode("order");
    const cases: readonly (readonly [Json, key: string, details: string])[] = [
      [{ amount: 1 }, "missing_param", "Property [1].source_id is required"],
      [
        { source_id: "b", items: [{}, { quantity: -1, amount: 100 }] },
        "invalid_order",
        "Property [1].items[1].quantity must be an integer from 0 to 9007199254740991",
      ],
      [
        { source_id: "b", items: [{ quantity: 1, price: -1 }] },
        "invalid_order",
        "Property [1].items[0].price must be an integer from 0 to 9007199254740991",
      ],
      [
        { source_id: "b", items: [{ initial_quantity: 0, quantity: 1 }] },
        "invalid_payload",
        "Property [1].items[0].initial_quantity cannot be lower than 1",
      ],
      [
        { source_id: "b", customer: { email: "b@shop.com" } },
        "invalid_payload",
        "Property [1].customer should have required property 'id' or 'source_id'",
      ],
    ];
    for (const [order, key, details] of cases) {
      const response = await api.post("/v1/orders/import", [{ source_id: first }, order]);
      expect([response.status, response.body["key"], response.body["details"]]).toEqual([
        400,
        key,
        details,
      ]);
    }
    expect((await api.get(`/v1/orders/${first}`)).status).toBe(404);
  });

  test("accepts orders as they were read, with items that a discount added", async ({ expect }) => {
    const sock = await ok(api.post("/v1/products", { name: "Sock", price: 500 }));
    const discount = {
      type: "UNIT",
      unit_off: 1,
      unit_type: sock["id"],
      effect: "ADD_NEW_ITEMS",
    };
    const code = newCode("unit");
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    const sourceId = newCode("order");
    const items = [
      { source_id: "shoe", quantity: 1, price: 1_000 },
      { source_id: "lace", quantity: 0, price: 100 },
    ];
    await ok(
      api.post(`/v1/vouchers/${code}/redemption`, { order: { source_id: sourceId, items } }),
    );
    const read = await ok(api.get(`/v1/orders/${sourceId}`));
    expect(read["items"].map((item: Json) => item["initial_quantity"])).toEqual([1, 0, 0]);
    const started = await api.post("/v1/orders/import", [{ ...read, id: undefined }]);
    expect(started.status, started.text).toBe(200);
    expect(await untilFinished(api, started)).toMatchObject({ status: "DONE" });
    const after = await ok(api.get(`/v1/orders/${sourceId}`));
    expect(after["items"]).toHaveLength(3);
  });
});
