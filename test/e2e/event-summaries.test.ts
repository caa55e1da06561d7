import { describe, expect, test } from "vitest";

import { type ApiResponse, inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const OFF_1000: Json = { type: "AMOUNT", amount_off: 1000 };
const OFF_10_PERCENT: Json = { type: "PERCENT", percent_off: 10 };

describe.each(COMPOSITIONS)("summaries counted from events (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("the summary of a customer follows the status of edited and imported orders", async () => {
    const customer = { source_id: newCode("buyer") };
    const orders = async () =>
      (await api.get(`/v1/customers/${customer.source_id}`)).body["summary"]?.["orders"];
    const order = { source_id: newCode("order"), customer, amount: 700 };
    for (const [status, expected] of [
      ["FULFILLED", { total_count: 1, total_amount: 700 }],
      ["CANCELED", { total_count: 0, total_amount: 0 }],
      ["PAID", { total_count: 1, total_amount: 700 }],
    ] as const) {
      expect((await api.post("/v1/orders", { ...order, status })).status).toBe(200);
      await expect.poll(orders, { timeout: 60_000 }).toMatchObject(expected);
    }
    const imported = { ...order, source_id: newCode("order"), amount: 300, status: "PAID" };
    expect((await api.post("/v1/orders/import", [imported])).status).toBe(200);
    await expect
      .poll(orders, { timeout: 60_000 })
      .toMatchObject({ total_count: 2, total_amount: 1_000 });
  });

  test("lists what a member and a customer did, under all paths", async () => {
    const program = await createLoyaltyProgram(api);
    const { code, customer } = await program.createCard();
    await ok(api.post(`/v1/loyalties/members/${code}/balance`, { points: 7 }));
    await ok(api.post("/v1/orders", { amount: 500, status: "PAID", customer }));
    const typesAt = async (path: string): Promise<readonly string[]> => {
      const { data } = await ok(api.get(path));
      return data.map(({ type }: Json) => type).toSorted();
    };
    const ofCard = ["customer.publication.succeeded", "customer.voucher.loyalty_card.points_added"];
    await expect
      .poll(() => typesAt(`/v1/customers/${customer["source_id"]}/activity`), EVENT_TIMEOUT)
      .toEqual(["customer.holder.assignment.created", "customer.order.paid", ...ofCard]);
    expect(await typesAt(`/v1/loyalties/members/${code}/activity`)).toEqual(ofCard);
    expect(
      await typesAt(`/v1/loyalties/${program.campaignId}/members/${code}/activity?limit=1`),
    ).toEqual(ofCard.slice(1));
    // Older clients use the plural.
    for (const path of [
      `/v1/customers/${customer["source_id"]}`,
      `/v1/loyalties/members/${code}`,
      `/v1/loyalties/${program.campaignId}/members/${code}`,
    ]) {
      expect(await ok(api.get(`${path}/activities`))).toEqual(
        await ok(api.get(`${path}/activity`)),
      );
    }
  });

  test("a promotion tier sums up its redemptions without those rolled back", async () => {
    const campaign = await createPromotion();
    const [first, second] = [await tier(campaign, OFF_1000), await tier(campaign, OFF_10_PERCENT)];
    const single = await ok(
      api.post(`${pathOf(first)}/redemption`, { order: { amount: 5000 }, customer: BUYER }),
    );
    const stacked = await ok(
      api.post("/v1/redemptions", {
        redeemables: [first, second].map((id) => ({ object: "promotion_tier", id })),
        order: { amount: 10_000 },
      }),
    );
    await ok(api.post(`${pathOf(second)}/redemption`, { order: { amount: 1 } }));
    const figures = () => Promise.all([figuresAt(first), figuresAt(second)]);
    await expect.poll(figures, EVENT_TIMEOUT).toEqual([
      [2, 15_000, 2000],
      [2, 10_001, 900],
    ]);

    const rollback = `/v1/redemptions/${single["id"]}/rollback`;
    await ok(api.post(rollback));
    expect((await api.post(rollback)).body["key"]).toBe("already_rolled_back");
    await expect.poll(figures, EVENT_TIMEOUT).toEqual([
      [1, 10_000, 1000],
      [2, 10_001, 900],
    ]);

    const parent = stacked["parent_redemption"]["id"];
    await ok(api.post(`/v1/redemptions/${parent}/rollbacks`));
    await expect.poll(figures, EVENT_TIMEOUT).toEqual([
      [0, 0, 0],
      [1, 1, 0],
    ]);

    const { tiers } = await ok(api.get(`/v1/promotions/${campaign}/tiers`));
    expect(new Map(tiers.map((one: Json) => [one["id"], figuresOf(one)]))).toEqual(
      new Map([
        [first, [0, 0, 0]],
        [second, [1, 1, 0]],
      ]),
    );
    const storedCampaign = await ok(api.get(`/v1/campaigns/${campaign}`));
    expect(storedCampaign["promotion"]["tiers"].map(figuresOf)).toEqual([
      [0, 0, 0],
      [1, 1, 0],
    ]);
  });

  test("a tier counts every one of many concurrent redemptions", async () => {
    const id = await tier(await createPromotion(), OFF_1000);
    const redemptions = await inParallel(Array.from({ length: 40 }), 16, () =>
      ok(api.post(`${pathOf(id)}/redemption`, { order: { amount: 3000 } })),
    );
    await inParallel(redemptions.slice(0, 15), 8, (one) =>
      ok(api.post(`/v1/redemptions/${one["id"]}/rollback`)),
    );
    await expect.poll(() => figuresAt(id), EVENT_TIMEOUT).toEqual([25, 75_000, 25_000]);
  });

  test("a campaign counts each deleted voucher exactly once", async () => {
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name: newCode("coupons"),
        campaign_type: "DISCOUNT_COUPONS",
        type: "STATIC",
        vouchers_count: 3,
        voucher: { type: "DISCOUNT_VOUCHER", discount: OFF_10_PERCENT },
      }),
    );
    const { vouchers } = await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}`));
    const [first, second] = vouchers.map((voucher: Json) => voucher["code"]);
    for (const path of [first, second, `${second}?force=true`]) {
      const { status, text } = await api.delete(`/v1/vouchers/${path}`);
      expect(status, text).toBe(204);
    }
    const count = async () =>
      (await ok(api.get(`/v1/campaigns/${campaign["id"]}`)))["vouchers_count"];
    await expect.poll(count, EVENT_TIMEOUT).toBe(1);
    await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers`));
    await expect.poll(count, EVENT_TIMEOUT).toBe(2);
  });

  async function createPromotion(): Promise<string> {
    const body = { name: newCode("promotion"), campaign_type: "PROMOTION" };
    return (await ok(api.post("/v1/campaigns", body)))["id"];
  }

  async function tier(campaign: string, discount: Json): Promise<string> {
    const body = { name: newCode("tier"), action: { discount } };
    return (await ok(api.post(`/v1/promotions/${campaign}/tiers`, body)))["id"];
  }

  async function figuresAt(id: string): Promise<readonly number[]> {
    return figuresOf(await ok(api.get(pathOf(id))));
  }
});

const BUYER: Json = { source_id: newCode("buyer") };
const EVENT_TIMEOUT = { timeout: 60_000 };

const pathOf = (tier: string): string => `/v1/promotions/tiers/${tier}`;

/** Number of redemptions, total of their orders, and total discount. */
const figuresOf = ({ summary }: Json): readonly number[] => [
  summary.redemptions.total_redeemed,
  summary.orders.total_amount,
  summary.orders.total_discount_amount,
];

async function ok(request: Promise<ApiResponse>): Promise<Json> {
  const response = await request;
  expect(response.status, response.text).toBe(200);
  return response.body;
}
