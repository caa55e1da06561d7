import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const EXPIRATION = { period_type: "MONTH", period_value: 3 };
const percent = (value: number) => ({ type: "PERCENT", percent_off: value });

describe.each(COMPOSITIONS)("campaigns (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const rejected = async (response: ReturnType<typeof api.get>): Promise<Json> => {
    const { body, status } = await response;
    expect(body["code"]).toBe(status);
    return body;
  };
  const create = (body: Json): Promise<Json> =>
    ok(api.post("/v1/campaigns", { name: newCode("campaign"), ...body }));
  const coupons = (more: Json = {}): Promise<Json> =>
    create({ voucher: { discount: percent(10) }, ...more });
  const read = (id: string): Promise<Json> => ok(api.get(`/v1/campaigns/${id}`));
  const vouchersOf = async (id: string): Promise<Json[]> =>
    (await ok(api.get(`/v1/vouchers?limit=100&campaign_id=${id}`)))["vouchers"];

  test("returns a new campaign with creation in progress, and its codes can be redeemed", async () => {
    const name = newCode("spring sale #1 50%/");
    const created = await create({
      name,
      description: "for friends",
      type: "AUTO_UPDATE",
      vouchers_count: 3,
      start_date: "2026-01-01T00:00:00Z",
      expiration_date: "2099-01-01T00:00:00Z",
      validity_timeframe: { interval: "P2D", duration: "P1D" },
      activity_duration_after_publishing: "P1M",
      category: newCode("category"),
      metadata: { shop: "x" },
      access_settings: { assign: {} },
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: percent(10),
        redemption: { quantity: 2 },
        code_config: { pattern: "SPRING-#####" },
      },
    });
    expect(created).toMatchObject({
      object: "campaign",
      name,
      description: "for friends",
      campaign_type: "DISCOUNT_COUPONS",
      type: "AUTO_UPDATE",
      auto_join: false,
      join_once: false,
      use_voucher_metadata_schema: false,
      active: true,
      protected: false,
      creation_status: "IN_PROGRESS",
      vouchers_generation_status: "IN_PROGRESS",
      vouchers_count: 0,
      start_date: "2026-01-01T00:00:00.000Z",
      validity_timeframe: { interval: "P2D", duration: "P1D" },
      validity_day_of_week: null,
      validity_hours: null,
      activity_duration_after_publishing: "P1M",
      metadata: { shop: "x" },
      categories: [{ object: "category" }],
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: percent(10),
        redemption: { quantity: 2 },
        is_referral_code: false,
        start_date: "2026-01-01T00:00:00.000Z",
        expiration_date: "2099-01-01T00:00:00.000Z",
        validity_timeframe: { interval: "P2D", duration: "P1D" },
      },
      validation_rules_assignments: { object: "list", data_ref: "data", data: [], total: 0 },
    });
    expect(created["id"]).toMatch(/^camp_[0-9a-f]{18}$/);
    expect(created["category_id"]).toBe(created["categories"][0].id);
    expect(created["category"]).toBe(created["categories"][0].name);
    expect(created["voucher"]["code_config"]).toEqual({
      length: 5,
      charset: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
      pattern: "SPRING-#####",
      entropy_bits: 29.77,
    });
    for (const absent of ["promotion", "referral_program", "updated_at", "readonly"]) {
      expect(created).not.toHaveProperty(absent);
    }

    const done = {
      ...created,
      creation_status: "DONE",
      vouchers_generation_status: "DONE",
      vouchers_count: 3,
    };
    expect(await read(created["id"])).toEqual(done);
    expect(await read(encodeURIComponent(name))).toEqual(done);
    const vouchers = await vouchersOf(created["id"]);
    expect(vouchers).toHaveLength(3);
    for (const voucher of vouchers) {
      expect(voucher).toMatchObject({
        campaign: name,
        campaign_id: created["id"],
        category_id: created["category_id"],
        type: "DISCOUNT_VOUCHER",
        discount: percent(10),
        redemption: { quantity: 2 },
        start_date: created["start_date"],
        expiration_date: created["expiration_date"],
        validity_timeframe: created["validity_timeframe"],
        // The flag is not set, so the code is not shared.
        metadata: {},
      });
      expect(voucher["code"]).toMatch(/^SPRING-[0-9A-Za-z]{5}$/);
    }
    for (const campaign of [name, created["id"]]) {
      const listed = await ok(api.get(`/v1/vouchers?campaign=${encodeURIComponent(campaign)}`));
      expect(listed["total"]).toBe(3);
    }
    expect(
      await rejected(api.post("/v1/campaigns", { name, voucher: created["voucher"] })),
    ).toMatchObject({
      code: 409,
      key: "duplicate_found",
      details: `Duplicated campaign exists with name ${name}`,
    });
  });

  test("creates campaigns of every type", async () => {
    const empty = await create({
      campaign_type: "GIFT_VOUCHERS",
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 5_000, balance: 1 } },
    });
    expect(empty).toMatchObject({
      creation_status: "DONE",
      vouchers_generation_status: "DONE",
      type: "STATIC",
      voucher: {
        gift: { amount: 5_000, balance: 5_000, effect: "APPLY_TO_ORDER" },
        redemption: { quantity: null },
      },
    });
    const loyalty = await create({
      campaign_type: "LOYALTY_PROGRAM",
      join_once: false,
      auto_join: true,
      vouchers_count: 1,
      voucher: { loyalty_card: { points: 7, expiration_rules: EXPIRATION } },
      loyalty_tiers_expiration: { qualification_type: "BALANCE" },
    });
    expect(loyalty).toMatchObject({
      join_once: true,
      auto_join: true,
      voucher: {
        type: "LOYALTY_CARD",
        loyalty_card: { points: 7, balance: 7, expiration_rules: EXPIRATION },
      },
      loyalty_tiers_expiration: { qualification_type: "BALANCE" },
    });
    expect((await vouchersOf(loyalty["id"]))[0]).toMatchObject({
      type: "LOYALTY_CARD",
      loyalty_card: { points: 7, balance: 7 },
    });
    const referral = await create({
      campaign_type: "REFERRAL_PROGRAM",
      vouchers_count: 1,
      voucher: { discount: percent(5) },
      referral_program: { conversion_event_type: "redemption" },
    });
    expect(referral).toMatchObject({
      voucher: { is_referral_code: true },
      referral_program: { conversion_event_type: "redemption" },
    });
    expect((await vouchersOf(referral["id"]))[0]).toMatchObject({ is_referral_code: true });
    const code = newCode("PUBLIC");
    const standalone = await coupons({
      type: "STANDALONE",
      join_once: true,
      voucher: { discount: percent(10), code },
    });
    expect(standalone).toMatchObject({ type: "STANDALONE", join_once: false, voucher: { code } });
    expect(await ok(api.get(`/v1/vouchers/${code}`))).toMatchObject({
      campaign_id: standalone["id"],
    });
  });

  test("adds vouchers that take missing fields from their campaign", async () => {
    const campaign = await coupons({
      expiration_date: "2099-01-01T00:00:00Z",
      use_voucher_metadata_schema: true,
      metadata: { shop: "x", kind: "campaign" },
    });
    const path = `/v1/campaigns/${encodeURIComponent(campaign["name"])}/vouchers`;
    const plain = await ok(api.post(path));
    expect(plain).toMatchObject({
      object: "voucher",
      campaign: campaign["name"],
      campaign_id: campaign["id"],
      discount: percent(10),
      expiration_date: campaign["expiration_date"],
      metadata: { shop: "x", kind: "campaign" },
    });
    const code = newCode("own code");
    const own = await ok(
      api.post(`${path}/${encodeURIComponent(code)}`, {
        redemption: { quantity: 4 },
        additional_info: "mine",
        metadata: { kind: "own" },
        start_date: "2030-01-01T00:00:00Z",
        category: newCode("category"),
      }),
    );
    expect(own).toMatchObject({
      code,
      redemption: { quantity: 4 },
      additional_info: "mine",
      metadata: { shop: "x", kind: "own" },
      start_date: "2030-01-01T00:00:00.000Z",
      expiration_date: campaign["expiration_date"],
      categories: [{ object: "category" }],
    });
    expect(await ok(api.get(`/v1/vouchers/${encodeURIComponent(code)}`))).toEqual(own);
    expect(await rejected(api.post(path, { code }))).toMatchObject({
      code: 409,
      details: `Duplicated voucher exists with id ${code}`,
    });
    const many = { code_config: { pattern: "M-########" } };
    expect((await api.post(`${path}?vouchers_count=20`, many)).status).toBe(202);
    expect(await rejected(api.post(`${path}?vouchers_count=5000001`))).toMatchObject({
      key: "invalid_campaign_params",
    });
    await expect.poll(async () => (await read(campaign["id"]))["vouchers_count"]).toBe(22);
    const { total } = await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}`));
    expect(total).toBe(22);

    const standalone = await coupons({
      type: "STANDALONE",
      voucher: { discount: percent(1), code: newCode("PUBLIC") },
    });
    expect(await rejected(api.post(`/v1/campaigns/${standalone["id"]}/vouchers`))).toMatchObject({
      key: "invalid_campaign",
      details: "You can not generate vouchers for STANDALONE type campaign.",
    });
    expect(await rejected(api.post("/v1/campaigns/camp_no/vouchers"))).toMatchObject({
      key: "not_found",
    });
  });

  test("adds every voucher of concurrent requests, and generates no more codes than the pattern allows", async () => {
    const prefix = newCode("RACE");
    const campaign = await coupons({
      voucher: { discount: percent(1), code_config: { prefix, length: 1, charset: "abcde" } },
    });
    const responses = await inParallel(Array.from({ length: 12 }), 12, () =>
      api.post(`/v1/campaigns/${campaign["id"]}/vouchers`),
    );
    const created = responses.filter(({ status }) => status === 200);
    expect(created).toHaveLength(5);
    expect(new Set(created.map(({ body }) => body["code"])).size).toBe(5);
    for (const { status, body } of responses) {
      if (status !== 200) expect(body).toMatchObject({ key: "invalid_code_config" });
    }
    expect(await read(campaign["id"])).toMatchObject({
      vouchers_count: 5,
      creation_status: "DONE",
    });
  });

  test("applies an update to the vouchers that have not been used", async () => {
    const campaign = await coupons({
      vouchers_count: 2,
      metadata: { a: 1, b: 2, c: 3 },
      voucher: { discount: percent(10), redemption: { quantity: 2 } },
    });
    const [used, fresh] = await vouchersOf(campaign["id"]);
    await ok(api.post(`/v1/vouchers/${used!["code"]}/redemption`, { order: { amount: 1_000 } }));
    const updated = await ok(
      api.put(`/v1/campaigns/${campaign["id"]}`, {
        id: campaign["id"],
        name: "another name",
        description: "new",
        discount: percent(20),
        expiration_date: "2099-01-01T00:00:00Z",
        validity_day_of_week: [1],
        metadata: { a: null, d: 4 },
        unset_metadata_fields: ["b"],
        type: "AUTO_UPDATE",
        join_once: true,
        category: newCode("category"),
      }),
    );
    expect(updated).toMatchObject({
      name: campaign["name"],
      description: "new",
      type: "AUTO_UPDATE",
      join_once: true,
      validity_day_of_week: [1],
      metadata: { a: null, c: 3, d: 4 },
      creation_status: "DONE",
      voucher: { discount: percent(20), expiration_date: "2099-01-01T00:00:00.000Z" },
      categories: [{ object: "category" }],
    });
    expect(updated["metadata"]).not.toHaveProperty("b");
    expect(updated["updated_at"]).toEqual(expect.any(String));
    expect(await read(campaign["id"])).toEqual(updated);
    expect(await ok(api.get(`/v1/vouchers/${fresh!["code"]}`))).toMatchObject({
      discount: percent(20),
      expiration_date: updated["expiration_date"],
      validity_day_of_week: [1],
      category_id: updated["category_id"],
      metadata: {},
    });
    expect(await ok(api.get(`/v1/vouchers/${used!["code"]}`))).toMatchObject({
      discount: percent(10),
      expiration_date: null,
    });

    const cleared = await ok(
      api.put(`/v1/campaigns/${campaign["id"]}`, { expiration_date: null, category: null }),
    );
    expect(cleared).not.toHaveProperty("expiration_date");
    expect(cleared).toMatchObject({ category_id: null, categories: [] });
    expect(
      await rejected(
        api.put(`/v1/campaigns/${campaign["id"]}`, {
          discount: { type: "AMOUNT", amount_off: 100 },
        }),
      ),
    ).toMatchObject({ key: "invalid_campaign" });
    expect(
      await rejected(api.put(`/v1/campaigns/${campaign["id"]}`, { type: "STANDALONE" })),
    ).toMatchObject({ key: "invalid_campaign" });
    expect(await read(campaign["id"])).toEqual(cleared);
  });

  test("keeps vouchers consistent when updates and additions run concurrently", async () => {
    const campaign = await coupons({ vouchers_count: 5 });
    const path = `/v1/campaigns/${campaign["id"]}`;
    await inParallel([...Array(12).keys()], 12, async (round) => {
      const { status } = await (round % 2 === 0
        ? api.put(path, { discount: percent(round + 1) })
        : api.post(`${path}/vouchers?vouchers_count=3`));
      expect(status).toBe(round % 2 === 0 ? 200 : 202);
    });
    const isDone = ({ creation_status, vouchers_generation_status }: Json) =>
      creation_status === "DONE" && vouchers_generation_status === "DONE";
    await expect
      .poll(async () => isDone(await read(campaign["id"])), { timeout: 20_000 })
      .toBe(true);
    const { voucher, vouchers_count: count, creation_status: status } = await read(campaign["id"]);
    const vouchers = await vouchersOf(campaign["id"]);
    expect([status, count, vouchers.length]).toEqual(["DONE", 23, 23]);
    for (const { discount } of vouchers) expect(discount).toEqual(voucher["discount"]);
  });

  test("returns an empty response for enable and disable, and a repeat changes nothing", async () => {
    const campaign = await coupons();
    const path = `/v1/campaigns/${campaign["id"]}`;
    expect(await ok(api.post(`${path}/disable`))).toEqual({});
    const disabled = await read(campaign["id"]);
    expect(disabled).toMatchObject({ active: false });
    expect(await ok(api.post(`${path}/disable`, {}))).toEqual({});
    expect(await read(campaign["id"])).toEqual(disabled);
    expect(await ok(api.post(`${path}/enable`))).toEqual({});
    expect(await read(campaign["id"])).toMatchObject({ active: true });
    expect(await rejected(api.post("/v1/campaigns/camp_no/enable"))).toMatchObject({ code: 404 });
  });

  test("lists campaigns newest first, with filters, and with categories on request", async () => {
    const shop = newCode("shop");
    const first = await coupons({ metadata: { shop }, category: newCode("category") });
    const second = await create({
      campaign_type: "REFERRAL_PROGRAM",
      metadata: { shop },
      voucher: { discount: percent(1) },
    });
    const filter = `filters[metadata.shop][conditions][$is]=${shop}`;
    const list = await ok(api.get(`/v1/campaigns?${filter}`));
    expect(list).toMatchObject({ object: "list", data_ref: "campaigns", total: 2 });
    expect(list["campaigns"].map(({ id }: Json) => id)).toEqual([second["id"], first["id"]]);
    expect(list["campaigns"][1]).toEqual({ ...first, categories: [] });
    const [expanded] = (
      await ok(api.get(`/v1/campaigns?${filter}&expand=category&order=created_at`))
    )["campaigns"];
    expect(expanded).toEqual(first);
    const only = async (query: string): Promise<string[]> =>
      (await ok(api.get(`/v1/campaigns?${filter}&${query}`)))["campaigns"].map(
        ({ id }: Json) => id,
      );
    expect(await only("campaign_type=REFERRAL_PROGRAM")).toEqual([second["id"]]);
    expect(await only("is_referral_code=true")).toEqual([second["id"]]);
    expect(await only("is_referral_code=false")).toEqual([first["id"]]);
    expect(await only("campaign_status=DONE")).toHaveLength(2);
    expect(await only("campaign_status=FAILED")).toEqual([]);
    expect(await only("limit=1&page=2")).toEqual([first["id"]]);
    expect(await only("filters[active][conditions][$disabled]=true")).toEqual([]);
    for (const query of ["limit=101", "order=name", "page=101", "filters[no][conditions][$is]=1"]) {
      expect(await rejected(api.get(`/v1/campaigns?${query}`))).toMatchObject({
        key: "invalid_query_params",
      });
    }
  });

  test("requires the scope campaigns", async () => {
    const own = await serverApi(stack, "campaigns");
    expect((await own.get("/v1/campaigns")).status).toBe(200);
    const other = await serverApi(stack, "vouchers");
    expect((await other.get("/v1/campaigns")).status).toBe(403);
  });
});
