import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("estimations of points (%s)", async (composition) => {
  const api = await serverApi(await sharedStack(composition));

  test("take off the discounts that the order already has, stored or sent", async () => {
    const program = await createLoyaltyProgram(api, { points: 0 });
    const total_amount = { every: 100, points: 1 };
    await ok(
      api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, [
        {
          event: "order.paid",
          loyalty: {
            type: "PROPORTIONAL",
            calculation_type: "ORDER_TOTAL_AMOUNT",
            order: { total_amount },
          },
        },
      ]),
    );
    const { customer } = await program.createCard();
    const source_id = newCode("order");
    await ok(api.post("/v1/orders", { source_id, amount: 1_000, discount_amount: 300, customer }));
    const estimate = async (order: Json) => {
      const path = `/v1/loyalties/${program.campaignId}/qualifications`;
      return (await ok(api.post(path, { customer, order })))["points_estimation"];
    };
    const orders: readonly Json[] = [
      { amount: 1_000, discount_amount: 300 },
      { items: [{ amount: 1_000, discount_amount: 300 }], discount_amount: 200 },
      { source_id },
      { source_id, discount_amount: 100 },
    ];
    expect(await Promise.all(orders.map(estimate))).toEqual([7, 5, 7, 9]);

    const unknown = { source_id: newCode("order"), discount_amount: 0 };
    const path = `/v1/loyalties/${program.campaignId}/qualifications`;
    const response = await api.post(path, { customer, order: unknown });
    expect(response.status).toBe(404);
  });
});
