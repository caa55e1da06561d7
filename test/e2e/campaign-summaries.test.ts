import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("campaign summaries (%s)", async (composition) => {
  const api = await serverApi(await sharedStack(composition));

  const create = (body: Json): Promise<Json> =>
    ok(api.post("/v1/campaigns", { name: newCode("campaign"), ...body }));
  const coupons = (more: Json = {}): Promise<Json> =>
    create({ voucher: { discount: TEN_PERCENT }, ...more });
  const vouchersOf = async (id: string): Promise<Json[]> =>
    (await ok(api.get(`/v1/vouchers?limit=100&campaign_id=${id}`)))["vouchers"];
  const summaryOf = async ({ id }: Json, query = ""): Promise<Json> => {
    const summary = await ok(api.get(`/v1/campaigns/${id}/summary${query}`));
    expect(summary).toMatchObject({ object: "campaign_summary", campaign: { id, categories: [] } });
    const { object: _object, campaign: _campaign, ...figures } = summary;
    return figures;
  };

  test("sums up the redemptions, rollbacks, publications and vouchers of coupons, by days", async () => {
    const campaign = await coupons({ vouchers_count: 3, category: "Summer" });
    const [one, two, three] = await vouchersOf(campaign["id"]);
    const redeem = (voucher: Json | undefined, body: Json = { order: { amount: 1000 } }) =>
      api.post(`/v1/vouchers/${voucher?.["code"]}/redemption`, body);
    const { id } = await ok(redeem(one));
    await ok(redeem(two));
    // A redemption without a customer counts as well when it fails.
    await ok(api.put(`/v1/vouchers/${two?.["code"]}`, { active: false }));
    expect((await redeem(two)).status).toBe(400);
    await ok(api.post(`/v1/redemptions/${id}/rollback`));
    expect((await api.post(`/v1/redemptions/${id}/rollback`)).status).toBe(400);
    const publish = (customer: string) =>
      api.post("/v1/publications", { customer, voucher: three?.["code"] });
    await ok(publish(newCode("ada")));
    expect((await publish(newCode("bob"))).status).toBe(400);
    expect((await api.delete(`/v1/vouchers/${three?.["code"]}`)).status).toBe(204);

    const expected = {
      validations: 0,
      validations_succeeded: 0,
      validations_failed: 0,
      redemptions: 3,
      redemptions_succeeded: 2,
      redemptions_failed: 1,
      rollbacks: 2,
      rollbacks_succeeded: 1,
      rollbacks_failed: 1,
      orders_amount: 2000,
      orders_rolledback_amount: 1000,
      vouchers_created: 3,
      vouchers_deleted: 1,
      publications: 2,
      publications_succeeded: 1,
      publications_failed: 1,
      discounted_amount: 200,
      rolledback_discounted_amount: 100,
    };
    expect(await summaryOf(campaign)).toEqual(expected);
    const dayOf = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const around = `?start_date=${dayOf(-1)}&end_date=${dayOf(1)}`;
    expect(await summaryOf(campaign, around)).toEqual(expected);
    const nothing = Object.fromEntries(Object.keys(expected).map((figure) => [figure, 0]));
    for (const query of [`?end_date=${dayOf(-2)}`, `?start_date=${dayOf(2)}`]) {
      expect(await summaryOf(campaign, query)).toEqual(nothing);
    }
    const path = `/v1/campaigns/${campaign["id"]}/summary`;
    for (const query of ["start_date=today", `start_date=${dayOf(1)}&end_date=${dayOf(0)}`]) {
      const { body } = await api.get(`${path}?${query}`);
      expect(body["key"]).toBe("invalid_query_params");
    }
  });

  test("sums up the credits of gift campaigns, the points of loyalty programs and the referees of referral programs", async () => {
    const gifts = await create({ vouchers_count: 2, voucher: { gift: { amount: 1000 } } });
    const [gift, other] = await vouchersOf(gifts["id"]);
    const balance = (path: string, amount: Json) => ok(api.post(`${path}/balance`, amount));
    await balance(`/v1/vouchers/${gift?.["code"]}`, { amount: 50 });
    await balance(`/v1/vouchers/${gift?.["code"]}`, { amount: -30 });
    const redemption = await ok(
      api.post(`/v1/vouchers/${gift?.["code"]}/redemption`, { order: { amount: 400 } }),
    );
    await ok(api.post(`/v1/redemptions/${redemption["id"]}/rollback`));
    await api.delete(`/v1/vouchers/${other?.["code"]}`);
    expect(await summaryOf(gifts)).toMatchObject({
      redemptions_succeeded: 1,
      orders_amount: 400,
      created_vouchers_amount: 2000,
      amount_added: 50,
      amount_subtracted: 30,
      amount_redeemed: 400,
      amount_rolledback: 400,
      amount_deleted: 1000,
    });
    expect(await summaryOf(gifts)).not.toHaveProperty("discounted_amount");

    const club = await create({
      type: "AUTO_UPDATE",
      voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 10 } },
    });
    const member = await ok(
      api.post(`/v1/loyalties/${club["id"]}/members`, { customer: newCode("ada") }),
    );
    await balance(`/v1/loyalties/members/${member["code"]}`, { points: 7 });
    await balance(`/v1/loyalties/members/${member["code"]}`, { points: -2 });
    const gone = await ok(
      api.post(`/v1/loyalties/${club["id"]}/members`, { customer: newCode("bob") }),
    );
    await balance(`/v1/loyalties/members/${gone["code"]}`, { points: 5 });
    expect((await api.delete(`/v1/vouchers/${gone["code"]}`)).status).toBe(204);
    expect(await summaryOf(club)).toMatchObject({
      vouchers_created: 2,
      vouchers_deleted: 1,
      publications_succeeded: 2,
      created_vouchers_points: 20,
      points_added: 12,
      points_subtracted: 2,
      points_deleted: 15,
      points_redeemed: 0,
      pending_points_added: 0,
      pending_points_subtracted: 0,
      pending_points_activated: 0,
      pending_points_canceled: 0,
    });

    const program = await coupons({ campaign_type: "REFERRAL_PROGRAM", type: "AUTO_UPDATE" });
    const { voucher } = await ok(
      api.post("/v1/publications", { campaign: program["id"], customer: newCode("referrer") }),
    );
    for (const name of ["ann", "bob"]) {
      const body = { customer: newCode(name), order: { amount: 100 } };
      await ok(api.post(`/v1/vouchers/${voucher.code}/redemption`, body));
    }
    await expect.poll(async () => (await summaryOf(program))["referred_customers"]).toBe(2);
    const promotion = await create({ campaign_type: "PROMOTION" });
    expect(await summaryOf(promotion)).not.toHaveProperty("vouchers_created");
  });

  test("sums up the validations of vouchers and promotion tiers", async () => {
    const campaign = await coupons({ vouchers_count: 2 });
    const [one, two] = await vouchersOf(campaign["id"]);
    await ok(api.put(`/v1/vouchers/${two?.["code"]}`, { active: false }));
    const promotion = await create({ campaign_type: "PROMOTION" });
    const tier = await ok(
      api.post(`/v1/promotions/${promotion["id"]}/tiers`, {
        name: "ten",
        action: { discount: TEN_PERCENT },
      }),
    );
    const order = { amount: 1000 };
    const redeemables = [
      { object: "voucher", id: one?.["code"] },
      { object: "promotion_tier", id: tier["id"] },
    ];
    const summary = await ok(api.get(`/v1/campaigns/${promotion["id"]}/summary`));
    expect(summary["campaign"].promotion).toMatchObject({ tiers: [{ id: tier["id"] }], total: 1 });
    await ok(api.post(`/v1/vouchers/${one?.["code"]}/validate`, { order }));
    await ok(api.post(`/v1/vouchers/${two?.["code"]}/validate`, { order }));
    await ok(api.post("/v1/validations", { order, redeemables }));
    await ok(api.post(`/v1/promotions/tiers/${tier["id"]}/validation`, { order }));
    await ok(api.post("/v1/promotions/validation", { order }));
    const figuresOf = async (of: Json) => {
      const figures = await summaryOf(of);
      return ["validations", "validations_succeeded", "validations_failed"].map(
        (name) => figures[name],
      );
    };
    await expect.poll(() => figuresOf(campaign), { timeout: 30_000 }).toEqual([3, 2, 1]);
    await expect.poll(() => figuresOf(promotion), { timeout: 30_000 }).toEqual([3, 3, 0]);
  });
});
