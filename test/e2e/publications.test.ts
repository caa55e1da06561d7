import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok, errorOf, ruleBuilders, TEN_PERCENT } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("publications (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createVoucher, createCampaign } = ruleBuilders(api);

  const publish = (body: Json): Promise<Json> => ok(api.post("/v1/publications", body));
  const rejected = (body: Json, query = ""): Promise<unknown[]> =>
    errorOf(api.post(`/v1/publications${query}`, body));
  const voucherOf = (name: string): Promise<Json> => ok(api.get(`/v1/vouchers/${name}`));
  const failuresOf = async (query: string): Promise<Json[]> =>
    (await ok(api.get(`/v1/publications?result=FAILURE&${query}`)))["publications"];
  const codesOf = async (campaign: Json): Promise<string[]> =>
    (await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}&order=created_at`)))[
      "vouchers"
    ].map(({ code }: Json) => code);

  test("a voucher is published to a customer", async () => {
    const { code, id } = await createVoucher();
    const source = newCode("ann");
    const created = await publish({
      customer: { source_id: source, name: "Ann" },
      voucher: code,
      metadata: { way: "mail" },
      channel: "Mailer",
    });
    const customerId = created["customer_id"] as string;
    expect(created).toEqual({
      object: "publication",
      id: expect.stringMatching(/^pub_[0-9a-f]{18}$/),
      created_at: expect.any(String),
      customer_id: customerId,
      tracking_id: source,
      metadata: { way: "mail" },
      channel: "Mailer",
      source_id: null,
      result: "SUCCESS",
      customer: {
        object: "customer",
        id: customerId,
        source_id: source,
        name: "Ann",
        metadata: {},
      },
      vouchers_id: [id],
      voucher: await voucherOf(code),
    });
    expect(created["voucher"]).toMatchObject({
      holder_id: customerId,
      publish: {
        object: "list",
        count: 1,
        url: `/v1/vouchers/${code}/publications?page=1&limit=10`,
      },
      start_date: null,
    });
    expect(await ok(api.get(created["voucher"].publish.url))).toEqual({
      object: "list",
      data_ref: "publications",
      publications: [created],
      total: 1,
    });
    expect((await ok(api.get(`/v1/vouchers?customer=${customerId}`)))["total"]).toBe(1);
  });

  test("the query variant does the same, and accepts the customer as a string", async () => {
    const { code } = await createVoucher();
    const source = newCode("bob");
    const path = `/v1/publications/create?voucher=${code}&customer=${source}&source_id=${source}`;
    const created = await ok(api.get(`${path}&metadata[way]=link`));
    expect(created).toMatchObject({
      tracking_id: source,
      source_id: source,
      channel: "API",
      metadata: { way: "link" },
      voucher: { code, holder_id: created["customer_id"] },
    });
    const second = await createVoucher();
    const again = await ok(
      api.get(
        `/v1/publications/create?voucher=${second["id"]}&customer=${created["customer_id"]}&campaign=nothing`,
      ),
    );
    expect(again).toMatchObject({ tracking_id: source, vouchers_id: [second["id"]] });
  });

  test("a campaign publishes its oldest voucher that is active, valid and unpublished", async () => {
    const campaign = await createCampaign({ vouchers_count: 5 });
    const [first, second, third, ...rest] = await codesOf(campaign);
    await ok(api.post(`/v1/vouchers/${first}/disable`));
    await ok(api.put(`/v1/vouchers/${second}`, { expiration_date: "2020-01-01T00:00:00.000Z" }));
    const source = newCode("customer");
    const created = await publish({ customer: source, campaign: campaign["name"] });
    expect(created["voucher"]).toMatchObject({ code: third, campaign: campaign["name"] });

    const several = await publish({
      customer: source,
      campaign: { name: campaign["id"], count: 2 },
    });
    expect(several).toMatchObject({ result: "SUCCESS", vouchers: rest });
    expect(several).not.toHaveProperty("voucher");
    expect(several["vouchers_id"]).toHaveLength(2);
    expect(await ok(api.get(`/v1/vouchers/${rest[1]}/publications`))).toMatchObject({ total: 1 });

    const customer = newCode("late");
    expect(await rejected({ customer, campaign: campaign["name"] })).toEqual([
      400,
      "no_voucher_suitable_for_publication",
      `Campaign '${campaign["name"]}' has not enough vouchers that are active and were never published`,
    ]);
    expect(await failuresOf(`campaign=${campaign["name"]}`)).toEqual([
      expect.objectContaining({
        result: "FAILURE",
        tracking_id: customer,
        failure_code: "no_voucher_suitable_for_publication",
        failure_message: "No voucher suitable for publication",
        vouchers_id: [],
      }),
    ]);
    // A voucher that the campaign would skip can still be published by its code.
    await publish({ customer, voucher: first });
  });

  test("several vouchers are published all or none", async () => {
    const campaign = await createCampaign({ vouchers_count: 2 });
    const customer = newCode("greedy");
    const [status, key] = await rejected({
      customer,
      campaign: { name: campaign["name"], count: 3 },
    });
    expect([status, key]).toEqual([400, "no_voucher_suitable_for_publication"]);
    for (const code of await codesOf(campaign)) {
      expect(await voucherOf(code)).toMatchObject({ holder_id: null, publish: { count: 0 } });
    }
    const { vouchers } = await publish({
      customer,
      campaign: { name: campaign["name"], count: 2 },
    });
    expect(vouchers).toHaveLength(2);
  });

  test("an AUTO_UPDATE campaign creates the missing vouchers and counts them", async () => {
    const campaign = await createCampaign({
      type: "AUTO_UPDATE",
      activity_duration_after_publishing: "P1D",
      start_date: "2020-01-01T00:00:00.000Z",
      expiration_date: "2099-01-01T00:00:00.000Z",
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: TEN_PERCENT,
        redemption: { quantity: 3 },
        code_config: { pattern: `${newCode("AUTO")}-####`, charset: "0123456789" },
      },
    });
    const created = await publish({ customer: newCode("c"), campaign: campaign["name"] });
    const { start_date: start, expiration_date: end } = created["voucher"];
    expect(start).toBe(created["created_at"]);
    expect(Date.parse(end) - Date.parse(start)).toBe(24 * 60 * 60_000);
    expect(created["voucher"]).toMatchObject({
      campaign_id: campaign["id"],
      redemption: { quantity: 3 },
    });
    expect(created["voucher"].code).toMatch(/^AUTO-.*-[0-9]{4}$/);

    await ok(
      api.put(`/v1/campaigns/${campaign["id"]}`, { discount: { ...TEN_PERCENT, percent_off: 20 } }),
    );
    const later = await publish({
      customer: newCode("c"),
      campaign: { name: campaign["name"], count: 3 },
    });
    for (const code of later["vouchers"]) {
      expect((await voucherOf(code))["discount"]).toMatchObject({ percent_off: 20 });
    }
    await expect
      .poll(async () => (await ok(api.get(`/v1/campaigns/${campaign["id"]}`)))["vouchers_count"], {
        timeout: 60_000,
      })
      .toBe(4);

    await ok(api.put(`/v1/campaigns/${campaign["id"]}`, { type: "STATIC" }));
    const [, key] = await rejected({ customer: newCode("c"), campaign: campaign["name"] });
    expect(key).toBe("no_voucher_suitable_for_publication");
  });

  test("an AUTO_UPDATE campaign whose code pattern is exhausted returns an error", async () => {
    const campaign = await createCampaign({
      type: "AUTO_UPDATE",
      vouchers_count: 1,
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: TEN_PERCENT,
        code_config: { pattern: newCode("ONLY") },
      },
    });
    await publish({ customer: newCode("c"), campaign: campaign["name"] });
    expect(await rejected({ customer: newCode("c"), campaign: campaign["name"] })).toEqual([
      400,
      "no_voucher_suitable_for_publication",
      "Couldn't create new vouchers for publication",
    ]);
  });

  test("a voucher cannot be published to a second customer", async () => {
    const { code, id } = await createVoucher();
    const [first, second] = [newCode("first"), newCode("second")];
    await publish({ customer: first, voucher: code });
    const again = [400, "voucher_already_published", `Voucher '${id}' has already been published`];
    expect(await rejected({ customer: second, voucher: code })).toEqual(again);
    expect(await rejected({ customer: first, voucher: code })).toEqual(again);
    expect(await rejected({ customer: second, voucher: code }, "?join_once=true")).toEqual(again);
    expect(await voucherOf(code)).toMatchObject({ publish: { count: 1 } });
    const failures = await failuresOf(`voucher=${code}&order=created_at`);
    expect(failures.map((each) => [each["failure_code"], each["tracking_id"]])).toEqual(
      [second, first, second].map((customer) => ["voucher_already_published", customer]),
    );
    expect(failures[0]).toMatchObject({ vouchers_id: [id], voucher: { code } });
    expect((await ok(api.get(`/v1/vouchers/${code}/publications`)))["total"]).toBe(4);
  });

  test("a join-once campaign returns the existing publication and creates nothing", async () => {
    const campaign = await createCampaign({ vouchers_count: 3, join_once: true });
    const [customer, source] = [newCode("member"), newCode("source")];
    const body = { customer, campaign: campaign["name"], source_id: source };
    const joined = await publish(body);
    expect(await publish(body)).toEqual(joined);
    expect(await publish({ customer, campaign: campaign["name"] })).toEqual(joined);
    const own = joined["voucher"].code as string;
    expect(await publish({ customer, voucher: own })).toEqual(joined);
    const other = (await codesOf(campaign)).find((code) => code !== own);
    expect(await rejected({ customer, voucher: other })).toEqual([
      400,
      "voucher_cannot_be_published",
      "Voucher cannot be published. Customer already joined program.",
    ]);
    expect(await voucherOf(own)).toMatchObject({ publish: { count: 1 } });
    // The query overrides the campaign's setting.
    const second = await ok(
      api.post("/v1/publications?join_once=false", { ...body, source_id: newCode("s") }),
    );
    expect(second["voucher"].code).not.toBe(own);
    const list = await ok(api.get(`/v1/publications?customer=${customer}&order=created_at`));
    expect(list["publications"].map(({ result }: Json) => result)).toEqual([
      "SUCCESS",
      "FAILURE",
      "SUCCESS",
    ]);
  });

  test("join_once in the query applies to campaigns and vouchers without the setting", async () => {
    const campaign = await createCampaign({ vouchers_count: 2 });
    const body = { customer: newCode("once"), campaign: campaign["name"] };
    const first = await publish(body);
    expect(await ok(api.post("/v1/publications?join_once=true", body))).toEqual(first);
    const { code } = await createVoucher();
    const alone = await publish({ customer: body.customer, voucher: code });
    expect(
      await ok(
        api.get(`/v1/publications/create?voucher=${code}&customer=${body.customer}&join_once=true`),
      ),
    ).toEqual(alone);
    const other = await publish(body);
    expect(other["voucher"].code).not.toBe(first["voucher"].code);
  });

  test("a loyalty program is always join-once; a referral code gets a referrer", async () => {
    const loyalty = await createCampaign({
      campaign_type: "LOYALTY_PROGRAM",
      vouchers_count: 2,
      voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 0 } },
    });
    const customer = newCode("member");
    const card = await publish({ customer, campaign: loyalty["name"] });
    expect(
      await ok(
        api.post("/v1/publications?join_once=false", { customer, campaign: loyalty["name"] }),
      ),
    ).toEqual(card);

    const referral = await createCampaign({
      campaign_type: "REFERRAL_PROGRAM",
      vouchers_count: 1,
      referral_program: { conversion_event_type: "redemption" },
    });
    const code = await publish({ customer, campaign: referral["name"], metadata: { way: "app" } });
    expect(code["voucher"]).toMatchObject({ is_referral_code: true });
    const heldVouchers = await ok(api.get(`/v1/customers/${customer}/redeemables`));
    expect(heldVouchers).toMatchObject({
      object: "list",
      data_ref: "data",
      total: 2,
      has_more: false,
    });
    expect(heldVouchers).not.toHaveProperty("more_starting_after");
    expect(heldVouchers["data"]).toEqual([
      {
        object: "redeemable_holder",
        id: expect.stringMatching(/^rh_[0-9a-f]{18}$/),
        created_at: code["created_at"],
        redeemable_id: code["voucher"].id,
        redeemable_object: "voucher",
        campaign_id: referral["id"],
        campaign_type: "REFERRAL_PROGRAM",
        voucher_type: "DISCOUNT_VOUCHER",
        customer_id: code["customer_id"],
        holder_role: "REFERRER",
        metadata: { way: "app" },
        redeemable: { type: "voucher", voucher: code["voucher"], status: "ACTIVE" },
      },
      expect.objectContaining({
        holder_role: "OWNER",
        campaign_type: "LOYALTY_PROGRAM",
        voucher_type: "LOYALTY_CARD",
        redeemable: expect.objectContaining({ status: "NO_BALANCE" }),
      }),
    ]);
    expect(heldVouchers["data"][1]).not.toHaveProperty("metadata");
    // The holder may not redeem it; other customers may.
    const use = (buyer: string) =>
      api.post(`/v1/vouchers/${code["voucher"].code}/redemption`, {
        customer: buyer,
        order: { amount: 1000 },
      });
    expect((await errorOf(use(customer))).slice(0, 2)).toEqual([
      400,
      "referrer_not_permitted_to_redeem",
    ]);
    await ok(use(newCode("friend")));
  });

  test("a source id is published once", async () => {
    const [first, second] = [await createVoucher(), await createVoucher()];
    const source = newCode("order");
    const created = await publish({ customer: "a", voucher: first["code"], source_id: source });
    const repeated = [
      400,
      "duplicate_source_id",
      `A publication with source id '${source}' exists already`,
    ];
    for (const { code } of [first, second]) {
      expect(await rejected({ customer: "a", voucher: code, source_id: source })).toEqual(repeated);
    }
    expect(await ok(api.get(`/v1/publications?source_id=${source}`))).toMatchObject({
      publications: [created],
      total: 1,
    });
    expect(
      await rejected({
        customer: "a",
        campaign: { name: (await createCampaign())["name"], count: 2 },
        source_id: newCode("many"),
      }),
    ).toEqual([400, "too_many_vouchers_requested", "Only up to 1 can be published"]);
  });

  test("requests with missing or unknown fields are rejected, and nothing is stored", async () => {
    const stranger = newCode("stranger");
    const { code } = await createVoucher();
    const cases: readonly (readonly [Json, unknown[]])[] = [
      [{ customer: stranger }, [400, "missing_vouchers", "Either Campaign or Voucher is required"]],
      [{ customer: stranger, voucher: "no-such" }, [404, "not_found", "voucher"]],
      [{ customer: stranger, campaign: "no-such" }, [404, "not_found", "campaign"]],
      [{ customer: { id: "cust_0" }, voucher: code }, [404, "not_found", "customer"]],
      [{ voucher: code }, [400, "invalid_payload", expect.stringContaining("customer")]],
      [
        { customer: {}, voucher: code },
        [400, "invalid_payload", "Property .customer must have .id or .source_id"],
      ],
      [
        { customer: stranger, campaign: { name: "x", count: 51 } },
        [400, "invalid_payload", expect.stringContaining("count")],
      ],
      [
        { customer: stranger, campaign: { count: 1 } },
        [400, "invalid_payload", expect.stringContaining("name")],
      ],
    ];
    for (const [body, response] of cases) expect(await rejected(body)).toEqual(response);
    expect((await api.get(`/v1/customers/${stranger}`)).status).toBe(404);
    expect((await ok(api.get(`/v1/publications?customer=${stranger}`)))["total"]).toBe(0);
    expect(await errorOf(api.get("/v1/vouchers/no-such/publications"))).toEqual([
      404,
      "not_found",
      "voucher",
    ]);
    expect(await errorOf(api.get("/v1/customers/no-such/redeemables"))).toEqual([
      404,
      "not_found",
      "customer",
    ]);
  });
});
