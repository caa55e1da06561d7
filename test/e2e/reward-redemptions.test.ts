import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("redemptions of rewards (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { id: mugId } = await ok(api.post("/v1/products", { name: "Mug" }));
  const MUG = { product: { id: mugId } };

  const reward = (body: Json): Promise<Json> => ok(api.post("/v1/rewards", body));
  const createCampaign = (kind: string, voucher: Json): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: kind,
        type: "AUTO_UPDATE",
        voucher,
      }),
    );
  const createProgram = (): Promise<Json> =>
    createCampaign("LOYALTY_PROGRAM", { type: "LOYALTY_CARD", loyalty_card: { points: 1_000 } });
  const coupons = (): Promise<Json> =>
    createCampaign("DISCOUNT_COUPONS", {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
    });

  /** A card of a program that offers this reward for ten points. */
  const cardOffering = async (body: Json) => {
    const program = await createLoyaltyProgram(api);
    const { id } = await reward(body);
    await ok(
      api.post(`/v1/rewards/${id}/assignments`, {
        campaign: program.campaignId,
        parameters: { loyalty: { points: 10 } },
      }),
    );
    const card = await program.createCard();
    const redeem = (headers: Record<string, string> = {}) =>
      api.post(
        `/v1/vouchers/${card.code}/redemption`,
        { customer: card.customer, reward: { id } },
        headers,
      );
    return { card, redeem };
  };

  test("of type CAMPAIGN publish a coupon, once for each redemption, and disable it with the rollback", async () => {
    const { id, name } = await coupons();
    const { card, redeem } = await cardOffering({
      type: "CAMPAIGN",
      parameters: { campaign: { id } },
    });
    const headers = { "Idempotency-Key": newCode("key") };
    const first = await redeem(headers);
    expect(first.body).toMatchObject({
      amount: 10,
      reward: {
        type: "CAMPAIGN",
        status: "COMPLETED",
        quantity: 1,
        parameters: { campaign: { id } },
        voucher: { object: "voucher", campaign: name, type: "DISCOUNT_VOUCHER" },
      },
    });
    const { code } = first.body["reward"]["voucher"];
    expect(await ok(api.get(`/v1/vouchers/${code}`))).toMatchObject({
      active: true,
      holder_id: first.body["customer_id"],
    });
    await ok(api.post(`/v1/redemptions/${first.body["id"]}/rollback`));
    await expect
      .poll(async () => (await ok(api.get(`/v1/vouchers/${code}`)))["active"], { timeout: 20_000 })
      .toBe(false);
    expect((await redeem(headers)).text).toBe(first.text);
    expect(await balanceOf(api, card)).toBe(1_000);
    expect((await ok(api.get(`/v1/vouchers?campaign_id=${id}`)))["total"]).toBe(1);
  });

  test("of type CAMPAIGN add points and credits to the voucher that the holder has", async () => {
    const gifts = await createCampaign("GIFT_VOUCHERS", {
      type: "GIFT_VOUCHER",
      gift: { amount: 100 },
    });
    const program = await createProgram();
    for (const [campaign, expected] of [
      [gifts, { gift: { amount: 1_100, balance: 1_100 } }],
      [program, { loyalty_card: { points: 2_000, balance: 2_000 } }],
    ] as const) {
      const { redeem } = await cardOffering({
        type: "CAMPAIGN",
        parameters: { campaign: { id: campaign["id"], balance: 500 } },
      });
      const given = [await redeem(), await redeem()].map(({ body }) => body["reward"]["voucher"]);
      expect(given[0]).toEqual(given[1]);
      expect(await ok(api.get(`/v1/vouchers/${given[0].code}`))).toMatchObject(expected);
    }
  });

  test("of type CAMPAIGN are rejected, without points, while their campaign is disabled or has no free code", async () => {
    const { id } = await ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: "DISCOUNT_COUPONS",
        type: "STATIC",
        vouchers_count: 1,
        voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } },
      }),
    );
    const { card, redeem } = await cardOffering({
      type: "CAMPAIGN",
      parameters: { campaign: { id } },
    });
    const rejected = { key: "no_voucher_suitable_for_publication" };
    await ok(api.post(`/v1/campaigns/${id}/disable`));
    await expect
      .poll(async () => (await redeem()).body, { timeout: 20_000 })
      .toMatchObject(rejected);
    expect(await balanceOf(api, card)).toBe(1_000);
    await ok(api.post(`/v1/campaigns/${id}/enable`));
    await expect
      .poll(async () => (await redeem()).body["reward"], { timeout: 20_000 })
      .toMatchObject({ status: "COMPLETED" });
    const { status, body } = await redeem();
    expect([status, body]).toMatchObject([400, rejected]);
    expect(await balanceOf(api, card)).toBe(990);
  });

  test("of type MATERIAL are completed when they were handed out, unless they were rolled back", async () => {
    const { redeem } = await cardOffering({ type: "MATERIAL", parameters: MUG });
    const [handed, returned] = [(await redeem()).body, (await redeem()).body];
    expect(handed["reward"]).toMatchObject({ status: "PENDING", product: { id: mugId } });
    const complete = ({ id }: Json) => api.post(`/v1/redemptions/${id}/reward/complete`, {});
    for (const attempt of [1, 2]) {
      const { body } = await complete(handed);
      expect(body["reward"], `attempt ${attempt}`).toMatchObject({ status: "COMPLETED" });
    }
    await ok(api.post(`/v1/redemptions/${returned["id"]}/rollback`));
    expect((await complete(returned)).body).toMatchObject({ key: "already_rolled_back" });
  });

  test("are redeemed automatically once, and not with a disabled card", async () => {
    const program = await createProgram();
    const { id, name } = await coupons();
    const coupon = await reward({ type: "CAMPAIGN", parameters: { campaign: { id } } });
    const price = { loyalty: { points: 600, auto_redeem: true } };
    const member = (source: string): Promise<Json> =>
      ok(api.post(`/v1/loyalties/${program["id"]}/members`, { customer: newCode(source) }));
    const [active, disabled] = [await member("active"), await member("disabled")];
    await ok(api.put(`/v1/vouchers/${disabled["code"]}`, { active: false }));
    await ok(
      api.post(`/v1/loyalties/${program["id"]}/rewards`, [
        { reward: coupon["id"], parameters: price },
      ]),
    );
    const card = async ({ code }: Json): Promise<Json> =>
      (await ok(api.get(`/v1/vouchers/${code}`)))["loyalty_card"];
    for (const { code } of [disabled, active]) {
      await ok(api.post(`/v1/loyalties/members/${code}/balance`, { points: 500 }));
    }
    const redemptions = async ({ code }: Json): Promise<Json[]> =>
      (await ok(api.get(`/v1/vouchers/${code}/redemption`)))["redemption_entries"];
    await expect
      .poll(() => redemptions(active))
      .toMatchObject([
        {
          amount: 1_200,
          channel: { channel_type: "AUTO_REDEEM" },
          reward: { quantity: 2, status: "COMPLETED", voucher: { campaign: name } },
        },
      ]);
    expect(await card(active)).toMatchObject({ points: 1_500, balance: 300 });
    const transactions = async (): Promise<Json[]> =>
      (await ok(api.get(`/v1/loyalties/members/${active["code"]}/transactions`)))["data"];
    // The event of the redemption spends the points that it held.
    await expect.poll(transactions).toMatchObject([
      { type: "POINTS_REDEMPTION", details: { balance: { operation_type: "AUTOMATIC" } } },
      { type: "POINTS_ADDITION", details: { balance: { operation_type: "MANUAL" } } },
    ]);
    await expect.poll(() => card(disabled)).toMatchObject({ balance: 1_500 });
    expect(await redemptions(disabled)).toEqual([]);
  });
});
