import { describe, expect, test } from "vitest";

import { serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)(
  "decimals with as many digits as JavaScript prints (%s)",
  async (composition) => {
    const stack = await sharedStack(composition);
    const api = await serverApi(stack);

    test.each([100 / 3, 0.1 + 0.2, 1e-7])("are accepted as percentages: %d", async (percentOff) => {
      const created = await ok(
        api.post("/v1/vouchers", {
          type: "DISCOUNT_VOUCHER",
          discount: { type: "PERCENT", percent_off: percentOff },
        }),
      );
      expect(created["discount"]).toEqual({ type: "PERCENT", percent_off: percentOff });
      const amount = 1_000_000_000;
      const validated = await ok(
        api.post(`/v1/vouchers/${created["code"]}/validate`, { order: { amount } }),
      );
      expect(validated["order"]["discount_amount"]).toBe(Math.round((amount * percentOff) / 100));
    });

    test("are accepted as the exchange ratio of points", async () => {
      const shop = await createLoyaltyProgram(api, {
        coin: { exchange_ratio: 100 / 3, points_ratio: 100 },
      });
      const card = await shop.createCard();
      const redeemed = await ok(
        api.post(`/v1/vouchers/${card.code}/redemption`, {
          customer: card.customer,
          order: { amount: 10_000 },
          reward: { id: shop.rewardId, points: 200 },
        }),
      );
      expect(redeemed).toMatchObject({ amount: 200, order: { total_discount_amount: 6_667 } });
    });
  },
);
