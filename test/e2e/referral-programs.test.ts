import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { referralBuilders } from "../stack/referral-builders.ts";
import { errorOf, ok, ruleBuilders, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("referral programs (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createCampaign } = ruleBuilders(api);
  const { program, publishedCode } = referralBuilders(api);

  const giftCampaign = (body: Json = {}): Promise<Json> =>
    createCampaign({
      campaign_type: "GIFT_VOUCHERS",
      type: "AUTO_UPDATE",
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 1000 } },
      ...body,
    });
  const loyaltyProgram = (): Promise<Json> =>
    createCampaign({
      campaign_type: "LOYALTY_PROGRAM",
      type: "AUTO_UPDATE",
      voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 5 } },
    });
  const rewardOf = (campaign: Json, type: string, amount: number): Json => ({
    related_object_parent: { id: campaign["id"] },
    type,
    amount,
  });
  const redeem = (code: string, customer: string) =>
    api.post(`/v1/vouchers/${code}/redemption`, { customer, order: { amount: 10_000 } });
  const heldOf = async (customer: string): Promise<Json[]> =>
    (await ok(api.get(`/v1/customers/${customer}/redeemables`)))["data"];
  /** The voucher of the campaign that the customer holds. */
  const holding = async (customer: string, campaign: Json): Promise<Json | undefined> =>
    (await heldOf(customer)).find(({ campaign_id: id }) => id === campaign["id"])?.["redeemable"]
      .voucher;
  const customerOf = (source: string): Promise<Json> => ok(api.get(`/v1/customers/${source}`));
  const create = (referral: Json, body: Json = {}) =>
    api.post("/v1/campaigns", {
      name: newCode("referral"),
      campaign_type: "REFERRAL_PROGRAM",
      voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
      referral_program: referral,
      ...body,
    });

  test("are stored with the names of their campaigns, and rejected when they make no sense", async () => {
    const [gift, loyalty] = [await giftCampaign(), await loyaltyProgram()];
    const parentOf = ({ id, name }: Json) => ({ id, name, object: "CAMPAIGN" });
    const created = await ok(
      create({
        referee_reward: rewardOf(gift, "GIFT_VOUCHER", 500),
        referrer_reward: {
          related_object_parent: { name: loyalty["name"] },
          type: "LOYALTY_CARD",
          amount: "20",
        },
      }),
    );
    const settings = {
      conversion_event_type: "redemption",
      referee_reward: {
        related_object_parent: parentOf(gift),
        type: "GIFT_VOUCHER",
        amount: 500,
      },
      referrer_reward: {
        related_object_parent: parentOf(loyalty),
        type: "LOYALTY_CARD",
        amount: 20,
      },
    };
    expect(created["referral_program"]).toEqual(settings);
    const path = `/v1/campaigns/${created["id"]}`;
    expect((await ok(api.get(path)))["referral_program"]).toEqual(settings);
    const event = { conversion_event_type: "custom_event", custom_event: { name: "paid" } };
    expect((await ok(api.put(path, { referral_program: event })))["referral_program"]).toEqual({
      conversion_event_type: "custom_event",
      custom_event: { id: null, name: "paid" },
    });
    const defaults = await ok(create({}));
    expect(defaults["referral_program"]).toEqual({ conversion_event_type: "redemption" });

    const parent = { related_object_parent: { id: gift["id"] }, type: "GIFT_VOUCHER" };
    const cases: readonly (readonly [Json, number, string])[] = [
      [{ conversion_event_type: "sunrise" }, 400, "invalid_payload"],
      [{ conversion_event_type: "custom_event" }, 400, "invalid_campaign"],
      [{ conversion_event_type: "custom_event", custom_event: {} }, 400, "invalid_campaign"],
      [{ referee_reward: { ...parent, amount: 0 } }, 400, "invalid_payload"],
      [{ referee_reward: { ...parent, amount: 1.5 } }, 400, "invalid_payload"],
      [{ referee_reward: { ...parent, type: "CASH", amount: 1 } }, 400, "invalid_payload"],
      [{ referee_reward: { type: "GIFT_VOUCHER", amount: 1 } }, 400, "invalid_payload"],
      [{ referee_reward: rewardOf({ id: "camp_none" }, "GIFT_VOUCHER", 1) }, 404, "not_found"],
      [{ referrer_reward: rewardOf(loyalty, "GIFT_VOUCHER", 1) }, 400, "invalid_campaign"],
      [{ referrer_reward: rewardOf(gift, "LOYALTY_CARD", 1) }, 400, "invalid_campaign"],
    ];
    for (const [referral, status, key] of cases) {
      for (const sent of [create(referral), api.put(path, { referral_program: referral })]) {
        expect((await errorOf(sent)).slice(0, 2), JSON.stringify(referral)).toEqual([status, key]);
      }
    }
    const coupons = { campaign_type: "DISCOUNT_COUPONS" };
    expect((await errorOf(create({}, coupons)))[1]).toBe("invalid_campaign");
  });

  test("a redemption converts once, and pays the referee and the referrer credits and points", async () => {
    const [gift, loyalty] = [await giftCampaign(), await loyaltyProgram()];
    const { code, referrer, referrerId, campaign, path } = await publishedCode(
      await program({
        referral_program: {
          referee_reward: rewardOf(gift, "GIFT_VOUCHER", 500),
          referrer_reward: rewardOf(loyalty, "LOYALTY_CARD", 20),
        },
      }),
    );
    const [ann, bob] = [newCode("ann"), newCode("bob")];
    const first = await ok(redeem(code, ann));
    expect(first["order"]).toMatchObject({ referrer_id: referrerId, discount_amount: 1000 });
    await Promise.all([redeem(code, ann), redeem(code, bob), redeem(code, ann)].map(ok));
    await expect.poll(async () => (await holding(ann, gift))?.["gift"].balance).toBe(1500);
    await expect.poll(async () => (await holding(bob, gift))?.["gift"].balance).toBe(1500);
    await expect
      .poll(async () => (await holding(referrer, loyalty))?.["loyalty_card"].balance)
      .toBe(45);
    const given = await holding(ann, gift);
    expect(given).toMatchObject({ gift: { amount: 1500, balance: 1500 }, publish: { count: 1 } });
    const transactions = await ok(api.get(`/v1/vouchers/${given?.["code"]}/transactions`));
    expect(transactions["data"][0]).toMatchObject({
      type: "CREDITS_ADDITION",
      source: "Automation",
      reason: "Referral reward",
      details: { balance: { amount: 500, balance: 1500 } },
    });
    const annId = (await customerOf(ann))["id"];
    await expect
      .poll(() => customerOf(ann))
      .toMatchObject({
        referrals: {
          total: 1,
          campaigns: [
            {
              campaign_id: campaign["id"],
              referrer_id: referrerId,
              related_object_id: first["id"],
              related_object_type: "redemption",
            },
          ],
        },
      });
    await expect
      .poll(async () => (await customerOf(referrer))["loyalty"])
      .toMatchObject({ points: 45, referred_customers: 2 });
    const counted = await customerOf(referrer);
    expect(counted["loyalty"].campaigns[campaign["name"]]).toMatchObject({
      referred_customers: 2,
    });
    const holders = await ok(api.get(`${path}?filters[customer_id][conditions][$is]=${annId}`));
    expect(holders["data"]).toMatchObject([{ holder_role: "REFEREE" }]);
  });

  test("a custom event converts, and names a code of a program that waits for it", async () => {
    const gift = await giftCampaign();
    const event = newCode("event");
    const { code, referrer, referrerId } = await publishedCode(
      await program({
        referral_program: {
          conversion_event_type: "custom_event",
          custom_event: { name: event },
          referee_reward: rewardOf(gift, "GIFT_VOUCHER", 1),
        },
      }),
    );
    const [ann, bob] = [newCode("ann"), newCode("bob")];
    const send = (customer: string, more: Json = {}) =>
      api.post("/v1/events", { event, customer, referral: { code }, ...more });
    await ok(redeem(code, bob));
    await ok(send(ann, { referral: { code, referrer_id: referrerId } }));
    await ok(send(ann));
    await expect.poll(async () => (await holding(ann, gift))?.["gift"].balance).toBe(1001);
    await expect
      .poll(async () => (await customerOf(ann))["referrals"])
      .toMatchObject({ total: 1, campaigns: [{ related_object_type: "event" }] });
    // The discount applies, and the redemption is no conversion.
    expect((await customerOf(bob))["referrals"].total).toBe(0);
    expect((await errorOf(send(referrer)))[1]).toBe("referrer_not_permitted_to_redeem");
    expect((await errorOf(send(ann, { referral: { code: "nowhere" } })))[1]).toBe("not_found");
    const unexpected = await errorOf(send(ann, { event: newCode("other") }));
    expect(unexpected.slice(0, 2)).toEqual([400, "invalid_payload"]);
    const redeemed = await publishedCode(await program());
    const elsewhere = send(ann, { referral: { code: redeemed.code } });
    expect((await errorOf(elsewhere))[1]).toBe("invalid_payload");
    const other = { referral: { code, referrer_id: "cust_none" } };
    expect((await errorOf(send(ann, other)))[1]).toBe("invalid_customer");
  });

  test("a paid order converts the codes of its referrer, and those that the customer is assigned to", async () => {
    const referral_program = { conversion_event_type: "order" };
    const { code, path, referrerId } = await publishedCode(await program({ referral_program }));
    const [ann, bob, eve] = [newCode("ann"), newCode("bob"), newCode("eve")];
    await ok(api.post(path, { holders: [ann, eve] }));
    const order = (customer: string, body: Json): Promise<Json> =>
      ok(api.post("/v1/orders", { amount: 1000, status: "PAID", customer, ...body }));
    const paid = await order(ann, {});
    await order(ann, {});
    await order(eve, { status: "CREATED" });
    // The order of a redemption names the referrer.
    await ok(redeem(code, bob));
    await expect
      .poll(async () => (await customerOf(referrerId))["loyalty"].referred_customers)
      .toBe(2);
    await expect
      .poll(async () => (await customerOf(ann))["referrals"])
      .toMatchObject({
        total: 1,
        campaigns: [{ related_object_id: paid["id"], related_object_type: "order" }],
      });
    await expect.poll(async () => (await customerOf(bob))["referrals"].total).toBe(1);
    expect((await customerOf(eve))["referrals"].total).toBe(0);
  });

  test("tiers are managed in their program, and pay the referrer", async () => {
    const gift = await giftCampaign();
    const { code, campaign, referrer } = await publishedCode(await program());
    const path = `/v1/referrals/${campaign["id"]}/tiers`;
    const tier = (name: string, type: string, count: number, amount: number): Promise<Json> =>
      ok(
        api.post(path, {
          name,
          condition: { type, count },
          reward: rewardOf(gift, "GIFT_VOUCHER", amount),
        }),
      );
    const each = await tier("each", "EACH_UNIQUE_REFEREE", 1, 9);
    const two = await tier("two", "MINIMUM_UNIQUE_REFEREES", 2, 100);
    const off = await tier("off", "EACH_UNIQUE_REFEREE", 1, 5000);
    expect(each).toEqual({
      object: "referral_tier",
      id: expect.stringMatching(/^rtr_[0-9a-f]{18}$/),
      campaign_id: campaign["id"],
      name: "each",
      condition: { type: "EACH_UNIQUE_REFEREE", count: 1 },
      segment_id: null,
      reward: {
        related_object_parent: { id: gift["id"], name: gift["name"], object: "CAMPAIGN" },
        type: "GIFT_VOUCHER",
        amount: 9,
      },
      active: true,
      created_at: expect.any(String),
      updated_at: null,
    });
    expect(await ok(api.post(`${path}/${off["id"]}/disable`))).toMatchObject({ active: false });
    const cheap = { reward: rewardOf(gift, "GIFT_VOUCHER", 1) };
    expect(await ok(api.put(`${path}/${each["id"]}`, cheap))).toMatchObject({
      name: "each",
      reward: { amount: 1 },
    });
    const gone = await tier("gone", "EACH_UNIQUE_REFEREE", 1, 9000);
    expect((await api.delete(`${path}/${gone["id"]}`)).status).toBe(204);
    expect((await errorOf(api.delete(`${path}/${gone["id"]}`)))[2]).toBe("referral_tier");
    expect(await ok(api.get(path))).toMatchObject({
      data: [{ id: each["id"] }, { id: two["id"] }, { id: off["id"], active: false }],
      total: 3,
    });
    expect((await errorOf(api.get(`/v1/referrals/${gift["id"]}/tiers`)))[2]).toBe("campaign");
    const reward = (type: string, parameters: Json): Promise<Json> =>
      ok(api.post("/v1/rewards", { name: type, type, parameters }));
    const credits = await reward("CAMPAIGN", { campaign: { id: gift["id"], balance: 30 } });
    const coin = await reward("COIN", { coin: { exchange_ratio: 1, points_ratio: 1 } });
    const byReward = (id: unknown) =>
      api.post(path, {
        name: "by reward",
        condition: { type: "MINIMUM_UNIQUE_REFEREES", count: 3 },
        reward: { reward_id: id },
      });
    expect((await ok(byReward(credits["id"])))["reward"]).toEqual({
      reward_id: credits["id"],
      ...rewardOf(gift, "GIFT_VOUCHER", 30),
      related_object_parent: { id: gift["id"], name: gift["name"], object: "CAMPAIGN" },
    });
    const replaced = await ok(
      api.put(`${path}/${off["id"]}`, { reward: { reward_id: credits["id"] } }),
    );
    expect(replaced).toMatchObject({
      name: off["name"],
      active: false,
      reward: { reward_id: credits["id"], type: "GIFT_VOUCHER", amount: 30 },
    });
    for (const [id, key] of [
      ["rew_none", "not_found"],
      [coin["id"], "invalid_payload"],
    ]) {
      const change = api.put(`${path}/${off["id"]}`, { reward: { reward_id: id } });
      expect((await errorOf(change))[1]).toBe(key);
    }
    expect((await errorOf(byReward("rew_none"))).slice(0, 2)).toEqual([404, "not_found"]);
    const condition = { type: "EACH_UNIQUE_REFEREE", count: 1 };
    const inSegment = { name: "gold", condition, ...cheap, segment_id: "seg_none" };
    const { id: segmentId } = await ok(
      api.post("/v1/segments", {
        name: newCode("passive"),
        type: "passive",
        filter: { name: { conditions: { $is: ["Gold"] } } },
      }),
    );
    const ofSegment = await ok(api.post(path, { ...inSegment, segment_id: segmentId }));
    expect(await ok(api.get(`/v1/segments/${segmentId}`))).toMatchObject({ type: "auto-update" });
    const inUse = await api.delete(`/v1/segments/${segmentId}`);
    expect([inUse.status, inUse.body]).toMatchObject([
      400,
      {
        key: "resource_in_use",
        related_object_ids: [ofSegment["id"]],
        related_object_type: "referral_tier",
        related_object_total: 1,
      },
    ]);
    // The tier can be sent back as it is.
    await ok(api.put(`${path}/${ofSegment["id"]}`, ofSegment));
    expect((await api.delete(`${path}/${ofSegment["id"]}`)).status).toBe(204);
    expect((await api.delete(`/v1/segments/${segmentId}`)).status).toBe(204);
    for (const change of [
      api.post(path, inSegment),
      api.put(`${path}/${off["id"]}`, { segment_id: "seg_none" }),
    ]) {
      expect(await errorOf(change)).toEqual([404, "not_found", "segment"]);
    }
    for (const id of [coin["id"], 7]) {
      expect((await errorOf(byReward(id))).slice(0, 2)).toEqual([400, "invalid_payload"]);
    }
    for (const name of ["ann", "bob", "eve"]) await ok(redeem(code, newCode(name)));
    await expect
      .poll(async () => (await holding(referrer, gift))?.["gift"].balance)
      .toBe(1000 + 3 * 1 + 100 + 30);
  });

  test("rewards can be coupons, new ones for each conversion", async () => {
    const coupons = await createCampaign({ type: "AUTO_UPDATE" });
    const { code, campaign, referrer } = await publishedCode(
      await program({
        referral_program: { referee_reward: rewardOf(coupons, "DISCOUNT_VOUCHER", 2) },
      }),
    );
    const coupon = {
      name: "coupon",
      type: "CAMPAIGN",
      parameters: { campaign: { id: coupons["id"] } },
    };
    const { id: rewardId } = await ok(api.post("/v1/rewards", coupon));
    const tier = await ok(
      api.post(`/v1/referrals/${campaign["id"]}/tiers`, {
        name: "each",
        condition: { type: "EACH_UNIQUE_REFEREE", count: 1 },
        reward: { reward_id: rewardId },
      }),
    );
    expect(tier["reward"]).toMatchObject({
      reward_id: rewardId,
      ...rewardOf(coupons, "DISCOUNT_VOUCHER", 1),
    });
    const [ann, bob] = [newCode("ann"), newCode("bob")];
    for (const referee of [ann, bob]) await ok(redeem(code, referee));
    const couponsOf = async (customer: string): Promise<number> => {
      const filter = `filters[campaign_id][conditions][$is]=${coupons["id"]}`;
      return (await ok(api.get(`/v1/customers/${customer}/redeemables?${filter}`)))["total"];
    };
    for (const customer of [ann, bob, referrer]) {
      await expect.poll(() => couponsOf(customer), { timeout: 60_000 }).toBe(2);
    }
    const tooMany = rewardOf(coupons, "DISCOUNT_VOUCHER", 51);
    const change = { referral_program: { referee_reward: tooMany } };
    expect((await errorOf(api.put(`/v1/campaigns/${campaign["id"]}`, change))).slice(0, 2)).toEqual(
      [400, "invalid_payload"],
    );
  });

  test("a reward waits while its campaign is disabled, and the redeemable shows it", async () => {
    const gift = await giftCampaign();
    const { code } = await publishedCode(
      await program({ referral_program: { referee_reward: rewardOf(gift, "GIFT_VOUCHER", 7) } }),
    );
    const ann = newCode("ann");
    await ok(api.post("/v1/publications", { campaign: gift["name"], customer: ann }));
    await ok(api.post(`/v1/campaigns/${gift["id"]}/disable`));
    const [held] = await heldOf(ann);
    expect(held?.["redeemable"].status).toBe("DISABLED");
    await ok(redeem(code, ann));
    await expect.poll(async () => (await customerOf(ann))["referrals"].total).toBe(1);
    expect((await holding(ann, gift))?.["gift"].balance).toBe(1000);
    await ok(api.post(`/v1/campaigns/${gift["id"]}/enable`));
    await expect.poll(async () => (await holding(ann, gift))?.["gift"].balance).toBe(1007);
  });

  test("all invariants hold afterwards", async () => {
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  });
});
