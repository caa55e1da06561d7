import { describe, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

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
});
