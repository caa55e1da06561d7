import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject, serverApi } from "../stack/api.ts";
import { ok, errorOf, ruleBuilders, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("publication lists and their effects (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createVoucher, createCampaign } = ruleBuilders(api);

  const publish = (body: Json): Promise<Json> => ok(api.post("/v1/publications", body));
  const rejected = (body: Json, query = ""): Promise<unknown[]> =>
    errorOf(api.post(`/v1/publications${query}`, body));
  const failuresOf = async (query: string): Promise<Json[]> =>
    (await ok(api.get(`/v1/publications?result=FAILURE&${query}`)))["publications"];

  test("publications are listed, sorted and filtered", async () => {
    const campaign = await createCampaign({ vouchers_count: 2 });
    const customer = newCode("reader");
    const { code: gift } = await ok(
      api.post("/v1/vouchers", { type: "GIFT_VOUCHER", gift: { amount: 1000 } }),
    );
    const first = await publish({ customer, campaign: campaign["name"], channel: "b" });
    const second = await publish({ customer, voucher: gift, channel: "a" });
    await rejected({ customer, voucher: gift });
    const [failed] = await failuresOf(`customer=${customer}`);
    const listIds = async (query: string): Promise<string[]> =>
      (await ok(api.get(`/v1/publications?customer=${customer}&${query}`)))["publications"].map(
        ({ id }: Json) => id,
      );
    const [a, b, c] = [first["id"], second["id"], failed?.["id"]];
    // `b` and `c` have the same code; ties are sorted by id.
    const isCouponFirst = first["voucher"].code < gift;
    const byCode = isCouponFirst ? [a, b, c] : [b, c, a];
    const queries: readonly (readonly [string, unknown[]])[] = [
      ["", [c, b, a]],
      ["order=created_at", [a, b, c]],
      ["order=id&limit=1&page=2", [b]],
      ["limit=1&page=9", []],
      ["order=-channel", [a, b, c]],
      ["order=channel", [c, b, a]],
      ["order=voucher_code", byCode],
      ["order=-voucher_code", byCode.toReversed()],
      ["order=tracking_id", [a, b, c]],
      ["order=-customer_id", [c, b, a]],
      ["source_id=none", []],
      ["voucher_type=Discount", [a]],
      ["created_at[after]=2099-01-01", []],
      [
        "filters[junction]=OR&filters[result][conditions][$is]=FAILURE" +
          "&filters[voucher_type][conditions][$is]=DISCOUNT_VOUCHER",
        [c, a],
      ],
      [`campaign=${campaign["id"]}`, [a]],
      [`campaign=${campaign["name"]}`, [a]],
      [`voucher=${gift}`, [c, b]],
      ["result=Success", [b, a]],
      ["voucher_type=GIFT_VOUCHER", [c, b]],
      ["is_referral_code=true", []],
      ["is_referral_code=false", [c, b, a]],
      [`filters[campaign_name][conditions][$is]=${campaign["name"]}`, [a]],
      ["filters[failure_code][conditions][$is]=voucher_already_published", [c]],
      ["filters[result][conditions][$in][0]=SUCCESS", [b, a]],
      [`filters[parent_object_id][conditions][$is]=${campaign["id"]}`, [a]],
      [`filters[related_object_id][conditions][$is]=${second["voucher"].id}`, [c, b]],
      [`filters[customer_id][conditions][$is_not]=${first["customer_id"]}`, []],
      ["filters[source_id][conditions][$has_value]=true", []],
      ["filters[voucher_type][conditions][$is]=DISCOUNT_VOUCHER", [a]],
      ["filters[is_referral_code][conditions][$is]=true", []],
    ];
    for (const [query, ids] of queries) expect(await listIds(query), query).toEqual(ids);
    for (const query of [
      "limit=101",
      "order=name",
      "result=maybe",
      "filters[x][conditions][$is]=1",
    ]) {
      expect((await errorOf(api.get(`/v1/publications?${query}`))).slice(0, 2), query).toEqual([
        400,
        "invalid_query_params",
      ]);
    }
    expect((await errorOf(api.get("/v1/publications?page=1001"))).slice(0, 2)).toEqual([
      400,
      "page_over_limit",
    ]);
  });

  test("a publication of several vouchers is found by each of them", async () => {
    const campaign = await createCampaign({ vouchers_count: 2 });
    const published = await ok(
      api.post("/v1/publications", {
        customer: newCode("reader"),
        campaign: { name: campaign["name"], count: 2 },
      }),
    );
    for (const id of published["vouchers_id"]) {
      const query = `filters[related_object_id][conditions][$is]=${id}`;
      const { publications } = await ok(api.get(`/v1/publications?${query}`));
      expect(publications).toMatchObject([{ id: published["id"] }]);
    }
  });

  test("the redeemables of a customer are listed page by page with their value", async () => {
    const customer = newCode("holder");
    const states = {
      ACTIVE: {},
      DISABLED: { active: false, expiration_date: "2020-01-01T00:00:00.000Z" },
      EXPIRED: { expiration_date: "2020-01-01T00:00:00.000Z", redemption: { quantity: 0 } },
      NOT_ACTIVE_YET: { start_date: "2099-01-01T00:00:00.000Z", redemption: { quantity: 0 } },
      USED: { redemption: { quantity: 0 } },
    };
    for (const body of Object.values(states)) {
      const { code } = await createVoucher(body);
      await publish({ customer, voucher: code });
    }
    const statuses: string[] = [];
    let after = "";
    for (let page = 0; page < 3; page += 1) {
      const query = `limit=2&order=id${after === "" ? "" : `&starting_after_id=${after}`}`;
      const list = await ok(api.get(`/v1/customers/${customer}/redeemables?${query}`));
      expect(list).toMatchObject({ total: 5, has_more: page < 2 });
      statuses.push(...list["data"].map(({ redeemable }: Json) => redeemable.status));
      after = list["more_starting_after"] ?? "";
    }
    expect(statuses).toEqual(Object.keys(states));
    const campaign = await createCampaign({ vouchers_count: 1 });
    const { voucher } = await publish({ customer, campaign: campaign["id"] });
    const path = `/v1/customers/${customer}/redeemables`;
    const [newest] = (await ok(api.get(path)))["data"];
    const totals: readonly (readonly [string, string, number])[] = [
      ["holder_role", "REFEREE", 0],
      ["holder_role", "OWNER", 6],
      ["id", newest.id, 1],
      ["redeemable_id", voucher.id, 1],
      ["redeemable_object", "voucher", 6],
      ["campaign_id", campaign["id"], 1],
      ["campaign_type", "DISCOUNT_COUPONS", 1],
      ["voucher_type", "DISCOUNT_VOUCHER", 6],
      ["voucher_type", "GIFT_VOUCHER", 0],
    ];
    for (const [field, value, total] of totals) {
      const list = await ok(api.get(`${path}?filters[${field}][conditions][$is]=${value}`));
      expect(list["total"], `${field} ${value}`).toBe(total);
    }
    const later = "filters[created_at][conditions][$after]=2099-01-01T00:00:00Z";
    expect((await ok(api.get(`${path}?${later}`)))["total"]).toBe(0);
  });

  test("decisions use the holder and the publication's metadata", async () => {
    const { createRule, assign } = ruleBuilders(api);
    const rule = await createRule({
      rules: {
        "1": {
          name: "publication.redeemable_by_linked_customer",
          conditions: { $is: [true] },
        },
        logic: "1",
      },
    });
    const voucher = await createVoucher({
      discount: {
        type: "AMOUNT",
        amount_off: 100,
        amount_off_formula: 'PUBLICATION_METADATA("worth")',
      },
    });
    await ok(assign(rule, "voucher", voucher["id"]));
    const customer = newCode("linked");
    const redeem = (buyer: string) =>
      api.post(`/v1/vouchers/${voucher["code"]}/redemption`, {
        customer: buyer,
        order: { amount: 10_000 },
      });
    // The cached voucher must be invalidated by its publication.
    expect((await redeem(customer)).status).toBe(400);
    await publish({ customer, voucher: voucher["code"], metadata: { worth: 7 } });
    expect((await redeem(newCode("other"))).status).toBe(400);
    expect((await ok(redeem(customer)))["order"]).toMatchObject({ discount_amount: 700 });
  });

  test("a member of a loyalty program always gets the same card", async () => {
    const program = await createCampaign({
      campaign_type: "LOYALTY_PROGRAM",
      vouchers_count: 2,
      voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 7 } },
    });
    const path = `/v1/loyalties/${program["id"]}/members`;
    const customer = newCode("member");
    const card = await ok(api.post(path, { customer, metadata: { way: "app" }, channel: "shop" }));
    expect(card).toMatchObject({
      object: "voucher",
      type: "LOYALTY_CARD",
      campaign_id: program["id"],
      loyalty_card: { points: 7, balance: 7 },
      publish: { count: 1 },
    });
    expect(await ok(api.get(card["publish"].url))).toMatchObject({
      publications: [{ customer_id: card["holder_id"], metadata: { way: "app" }, channel: "shop" }],
    });
    const byName = `/v1/loyalties/${encodeURIComponent(program["name"])}/members`;
    expect(await ok(api.post(byName, { customer: { source_id: customer } }))).toEqual(card);
    expect(
      (await errorOf(api.post(path, { customer: newCode("m"), voucher: card["id"] })))[1],
    ).toBe("voucher_already_published");
    const other = await createVoucher();
    expect(await errorOf(api.post(path, { customer, voucher: other["code"] }))).toEqual([
      404,
      "not_found",
      "voucher",
    ]);
    const coupons = await createCampaign();
    expect(await errorOf(api.post(`/v1/loyalties/${coupons["id"]}/members`, { customer }))).toEqual(
      [404, "not_found", "campaign"],
    );
  });

  test("a customer of a join-once campaign gets one voucher, also with a count", async () => {
    const program = await createCampaign({
      campaign_type: "LOYALTY_PROGRAM",
      type: "AUTO_UPDATE",
      voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 0 } },
    });
    const coupons = await createCampaign({ vouchers_count: 2 });
    const customer = newCode("member");
    const two = ({ name }: Json): Json => ({ customer, campaign: { name, count: 2 } });
    const tooMany = [400, "too_many_vouchers_requested", "Only up to 1 can be published"];
    expect(await rejected(two(program), "?join_once=false")).toEqual(tooMany);
    expect(await rejected(two(coupons), "?join_once=true")).toEqual(tooMany);
    const joined = await publish({ customer, campaign: program["name"] });
    expect(await publish(two(program))).toEqual(joined);
    expect((await publish(two(coupons)))["vouchers"]).toHaveLength(2);
  });

  test("an expired AUTO_UPDATE campaign creates no vouchers that nobody can use", async () => {
    const expired = { type: "AUTO_UPDATE", expiration_date: "2020-01-01T00:00:00.000Z" };
    const { name } = await createCampaign(expired);
    expect(await rejected({ customer: newCode("late"), campaign: name })).toEqual([
      400,
      "no_voucher_suitable_for_publication",
      "Couldn't create new vouchers for publication",
    ]);
    expect((await ok(api.get(`/v1/vouchers?campaign=${name}`)))["total"]).toBe(0);
    const timed = await createCampaign({ ...expired, activity_duration_after_publishing: "P1D" });
    const { voucher } = await publish({ customer: newCode("late"), campaign: timed["name"] });
    expect(Date.parse(voucher.expiration_date)).toBeGreaterThan(Date.now());
  });

  test("metadata must match the schema of publications", async () => {
    const shop = await newProject(stack);
    const path = `/management/v1/projects/${shop.id}/metadata-schemas`;
    const properties = { way: { type: "string", optional: false } };
    await ok(managementApi(stack).post(path, { related_object: "publication", properties }));
    const voucher = await ok(
      shop.api.post("/v1/vouchers", { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT }),
    );
    const body = { customer: "c", voucher: voucher["code"] };
    for (const metadata of [{}, { way: 1 }]) {
      const [, key] = await errorOf(shop.api.post("/v1/publications", { ...body, metadata }));
      expect(key).toBe("metadata_validation_failed");
    }
    await ok(shop.api.post("/v1/publications", { ...body, metadata: { way: "mail" } }));
  });

  test("the scope publications is required", async () => {
    const { code } = await createVoucher();
    const narrow = await serverApi(stack, "publications");
    await ok(narrow.post("/v1/publications", { customer: newCode("c"), voucher: code }));
    await ok(narrow.get("/v1/publications"));
    const wrong = await serverApi(stack, "vouchers");
    expect((await wrong.get("/v1/publications")).status).toBe(403);
    await ok(wrong.get(`/v1/vouchers/${code}/publications`));
  });
});
