import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { errorOf, ok, ruleBuilders, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("referrals (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createVoucher, createCampaign } = ruleBuilders(api);

  const program = (body: Json = {}): Promise<Json> =>
    createCampaign({
      campaign_type: "REFERRAL_PROGRAM",
      type: "AUTO_UPDATE",
      vouchers_count: 1,
      voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
      ...body,
    });
  /** A published code of a program, and the path of its holders. */
  const publishedCode = async (of?: Json) => {
    const campaign = of ?? (await program());
    const referrer = newCode("referrer");
    const { voucher, customer_id: referrerId } = await ok(
      api.post("/v1/publications", { campaign: campaign["id"], customer: referrer }),
    );
    const code = voucher.code as string;
    return {
      campaign,
      code,
      voucherId: voucher.id as string,
      referrer,
      referrerId: referrerId as string,
      path: `/v1/referrals/${campaign["id"]}/members/${code}/holders`,
      shortPath: `/v1/referrals/members/${voucher.id}/holders`,
    };
  };

  describe("holders", async () => {
    const isKnown = async (source: string): Promise<boolean> =>
      (await api.get(`/v1/customers/${source}`)).status === 200;

    test("are assigned in the order of the request, listed by cursor and removed", async () => {
      const { path, shortPath, referrerId, voucherId, campaign, referrer } = await publishedCode();
      const [ann, bob, eve] = [newCode("ann"), newCode("bob"), newCode("eve")];
      const { id: bobId } = await ok(api.post("/v1/customers", { source_id: bob, name: "Bob" }));
      const created = await ok(
        api.post(path, {
          holders: [
            { source_id: ann, name: "Ann" },
            { id: bobId, source_id: "ignored", email: "bob@shop.example" },
          ],
          metadata: { way: "mail" },
        }),
      );
      const [first, second] = created["holders"];
      expect(created).toEqual({ holders: [first, second] });
      expect(first).toEqual({
        object: "redeemable_holder",
        id: expect.stringMatching(/^rh_[0-9a-f]{18}$/),
        created_at: expect.any(String),
        redeemable_id: voucherId,
        redeemable_object: "voucher",
        campaign_id: campaign["id"],
        campaign_type: "REFERRAL_PROGRAM",
        voucher_type: "DISCOUNT_VOUCHER",
        customer_id: (await ok(api.get(`/v1/customers/${ann}`)))["id"],
        holder_role: "REFEREE",
        metadata: { way: "mail" },
      });
      expect(second).toMatchObject({ customer_id: bobId });
      expect(await ok(api.get(`/v1/customers/${bobId}`))).toMatchObject({
        name: "Bob",
        email: "bob@shop.example",
        source_id: bob,
      });
      const more = await ok(api.post(shortPath, { holders: [eve] }));
      const [third] = more["holders"];
      expect(third).not.toHaveProperty("metadata");

      const page = await ok(api.get(`${path}?limit=3`));
      expect(page).toMatchObject({
        object: "list",
        data_ref: "data",
        data: [third, second, first],
        total: 4,
        has_more: true,
        more_starting_after: first.id,
      });
      const rest = await ok(api.get(`${shortPath}?starting_after_id=${first.id}`));
      expect(rest).toMatchObject({
        data: [{ holder_role: "REFERRER", customer_id: referrerId }],
        total: 4,
        has_more: false,
      });
      expect(rest).not.toHaveProperty("more_starting_after");
      const [owner] = rest["data"];
      const queries: readonly (readonly [string, unknown[]])[] = [
        ["order=id", [owner, first, second, third]],
        ["filters[holder_role][conditions][$is]=REFERRER", [owner]],
        [`filters[customer_id][conditions][$in][0]=${bobId}`, [second]],
        [`filters[id][conditions][$is_not]=${owner.id}&order=id`, [first, second, third]],
        ["filters[created_at][conditions][$before]=2020-01-01T00:00:00Z", []],
        ["created_at[after]=2020-01-01&limit=1", [third]],
      ];
      for (const [query, data] of queries) {
        expect((await ok(api.get(`${path}?${query}`)))["data"], query).toEqual(data);
      }
      for (const query of ["order=name", "limit=0", "filters[x][conditions][$is]=1"]) {
        expect((await errorOf(api.get(`${path}?${query}`))).slice(0, 2), query).toEqual([
          400,
          "invalid_query_params",
        ]);
      }
      // The code is among the redeemables of a referee, but its holder stays the referrer.
      expect(await ok(api.get(`/v1/customers/${ann}/redeemables`))).toMatchObject({
        data: [{ holder_role: "REFEREE", redeemable: { voucher: { holder_id: referrerId } } }],
      });

      expect((await api.delete(`${path}/${first.id}`)).status).toBe(204);
      expect((await api.delete(`${shortPath}/${second.id}`)).status).toBe(204);
      expect((await errorOf(api.delete(`${path}/${first.id}`)))[2]).toBe("redeemable_holder");
      const protectedHolder = await api.delete(`${path}/${owner.id}`);
      expect([protectedHolder.status, protectedHolder.body]).toMatchObject([
        403,
        {
          key: "forbidden",
          message: "Can not remove assignment",
          details: "You can not remove Referrer assignment",
        },
      ]);
      expect((await ok(api.get(path)))["data"]).toEqual([third, owner]);
      // A removed referee can be assigned again; the referrer never.
      await ok(api.post(path, { holders: [ann] }));
      expect((await errorOf(api.post(path, { holders: [referrer] })))[1]).toBe(
        "holder_assignement_duplication",
      );
    });

    test("a rejected request assigns nobody and creates no customer", async () => {
      const { path, shortPath, referrer, referrerId } = await publishedCode();
      const { id: known } = await ok(api.post("/v1/customers", { source_id: newCode("known") }));
      const assigned = newCode("assigned");
      await ok(api.post(path, { holders: [assigned] }));
      const knownSource = (await ok(api.get(`/v1/customers/${known}`)))["source_id"];
      const twice = newCode("twice");
      const cases: readonly (readonly [Json[] | string[], unknown[]])[] = [
        [[{ id: "cust_none" }], [404, "not_found", "customer"]],
        [
          [{ name: "No id" }],
          [400, "invalid_payload", "Property .holders[1] must have .id or .source_id"],
        ],
        [
          [{ source_id: twice }, { source_id: twice }],
          [409, "duplicate_found", "customer"],
        ],
        [
          [{ id: known }, { source_id: knownSource }],
          [409, "duplicate_found", "customer"],
        ],
        [[assigned], [409, "holder_assignement_duplication", "customer"]],
        [[referrer], [409, "holder_assignement_duplication", "customer"]],
        [[{ id: referrerId }], [409, "holder_assignement_duplication", "customer"]],
      ];
      for (const [holders, error] of cases) {
        const bystander = newCode("bystander");
        const sent = api.post(shortPath, { holders: [bystander, ...holders] });
        expect(await errorOf(sent), JSON.stringify(holders)).toEqual(error);
        expect(await isKnown(bystander), JSON.stringify(holders)).toBe(false);
      }
      expect(await isKnown(twice)).toBe(false);
      expect((await ok(api.get(path)))["total"]).toBe(2);
      expect(await errorOf(api.post(path, { holders: [] }))).toEqual([
        400,
        "invalid_payload",
        "Property .holders must NOT have fewer than 1 items",
      ]);
      const crowd = Array.from({ length: 101 }, (_, index) => `crowd-${index}`);
      expect(await errorOf(api.post(path, { holders: crowd }))).toEqual([
        400,
        "invalid_payload",
        "Property .holders must NOT have more than 100 items",
      ]);
    });

    test("belong to published referral codes of the campaign in the path", async () => {
      const { campaign, path, code } = await publishedCode();
      const body = { holders: [newCode("friend")] };
      const { code: unpublished } = await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers`));
      const early = await api.post(`/v1/referrals/members/${unpublished}/holders`, body);
      expect([early.status, early.body]).toMatchObject([
        400,
        {
          key: "not_published",
          message: "Voucher is not published",
          details:
            "Referral code must be first published to Referrer before assigning it to Referee",
        },
      ]);
      const { code: plain } = await createVoucher();
      expect((await errorOf(api.post(`/v1/referrals/members/${plain}/holders`, body)))[1]).toBe(
        "invalid_voucher",
      );
      expect(await errorOf(api.get(`/v1/referrals/members/${plain}/holders`))).toEqual([
        404,
        "not_found",
        "voucher",
      ]);
      const other = await program();
      const wrong = path.replace(String(campaign["id"]), String(other["id"]));
      for (const sent of [api.post(wrong, body), api.get(wrong), api.delete(`${wrong}/rh_1`)]) {
        expect(await errorOf(sent)).toEqual([404, "not_found", "voucher"]);
      }
      expect(await errorOf(api.get(`/v1/referrals/nowhere/members/${code}/holders`))).toEqual([
        404,
        "not_found",
        "campaign",
      ]);
      const byName = `/v1/referrals/${encodeURIComponent(campaign["name"])}/members/${code}/holders`;
      await ok(api.post(byName, body));
      const narrow = await serverApi(stack, "referrals");
      await ok(narrow.get(path));
      expect((await (await serverApi(stack, "vouchers")).get(path)).status).toBe(403);
    });

    test("concurrent requests assign a customer once, and each assigns all of its customers or none", async () => {
      const { path } = await publishedCode();
      const shared = newCode("shared");
      const own = Array.from({ length: 16 }, () => newCode("own"));
      const responses = await inParallel(own, 16, (source) =>
        api.post(path, { holders: [source, shared] }),
      );
      const won = own.filter((_, index) => responses[index]?.status === 200);
      expect(won).toHaveLength(1);
      for (const { status, body } of responses) {
        if (status !== 200) expect(body["key"]).toBe("holder_assignement_duplication");
      }
      const { data } = await ok(api.get(`${path}?filters[holder_role][conditions][$is]=REFEREE`));
      expect(data).toHaveLength(2);
    });
  });

  describe("programs", async () => {
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
          expect((await errorOf(sent)).slice(0, 2), JSON.stringify(referral)).toEqual([
            status,
            key,
          ]);
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
      expect(await customerOf(ann)).toMatchObject({
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
      const counted = await customerOf(referrer);
      expect(counted["loyalty"]).toMatchObject({ points: 45, referred_customers: 2 });
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
      expect((await customerOf(ann))["referrals"]).toMatchObject({
        total: 1,
        campaigns: [{ related_object_type: "event" }],
      });
      // The discount applies, and the redemption is no conversion.
      expect((await customerOf(bob))["referrals"].total).toBe(0);
      expect((await errorOf(send(referrer)))[1]).toBe("referrer_not_permitted_to_redeem");
      expect((await errorOf(send(ann, { referral: { code: "nowhere" } })))[1]).toBe("not_found");
      const other = { referral: { code, referrer_id: "cust_none" } };
      expect((await errorOf(send(ann, other)))[1]).toBe("invalid_customer");
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
  });

  test("all invariants hold afterwards", async () => {
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  });
});
