import { describe, expect, test } from "vitest";

import { serverApi } from "../stack/api.ts";
import { balanceOf, type Card, loyaltyShop } from "../stack/loyalty-shop.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("paying with points on %s", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const shop = await loyaltyShop(api, { points: 3_000 });

  const redeem = ({ code, customer }: Card, body: object = {}, headers = {}) =>
    api.post(
      `/v1/vouchers/${code}/redemption`,
      { customer, order: { amount: 45_000 }, reward: { id: shop.rewardId }, ...body },
      headers,
    );

  test("takes the blocks of points that the order needs, and shows what is left", async () => {
    const card = await shop.card();
    const validated = await api.post(`/v1/vouchers/${card.code}/validate`, {
      customer: card.customer,
      order: { amount: 45_000 },
      reward: { id: shop.rewardId },
    });
    expect(validated.body, validated.text).toMatchObject({
      valid: true,
      loyalty: { points_cost: 2_300 },
      reward: { id: shop.rewardId, object: "reward", type: "COIN" },
      order: { total_discount_amount: 45_000, total_amount: 0 },
    });
    expect(await balanceOf(api, card)).toBe(3_000);

    const redeemed = await redeem(card);
    expect(redeemed.status, redeemed.text).toBe(200);
    expect(redeemed.body).toMatchObject({
      amount: 2_300,
      result: "SUCCESS",
      loyalty_card: { points: 2_300 },
      reward: { id: shop.rewardId, type: "COIN", assignment_id: shop.assignmentId },
      order: { amount: 45_000, total_discount_amount: 45_000, total_amount: 0, status: "PAID" },
      voucher: {
        loyalty_card: { points: 3_000, balance: 700 },
        redemption: { redeemed_quantity: 1, redeemed_points: 2_300 },
      },
    });
    expect(redeemed.body["gift"]).toBeUndefined();
    expect((await api.get(`/v1/vouchers/${card.code}`)).body).toMatchObject({
      loyalty_card: { points: 3_000, balance: 700 },
      redemption: { redeemed_quantity: 1, redeemed_points: 2_300 },
    });
    expect((await api.get(`/v1/redemptions/${redeemed.body["id"]}`)).body).toMatchObject({
      amount: 2_300,
      loyalty_card: { points: 2_300 },
      reward: { id: shop.rewardId },
      voucher: { loyalty_card: { balance: 700 } },
    });
  });
});
