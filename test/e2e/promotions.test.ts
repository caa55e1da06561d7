import { describe, expect, test } from "vitest";

import { inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const percent = (value: number) => ({ type: "PERCENT", percent_off: value });
const action = { discount: percent(10) };

describe.each(COMPOSITIONS)("promotions (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const rejected = async (response: ReturnType<typeof api.get>): Promise<Json> => {
    const { body, status } = await response;
    expect(body["code"]).toBe(status);
    return body;
  };
  const promotion = (more: Json = {}): Promise<Json> =>
    ok(api.post("/v1/campaigns", { name: newCode("promo"), campaign_type: "PROMOTION", ...more }));
  const tier = (campaign: Json, more: Json = {}): Promise<Json> =>
    ok(
      api.post(`/v1/promotions/${campaign["id"]}/tiers`, {
        name: newCode("tier"),
        action,
        ...more,
      }),
    );
  const idsOf = (items: readonly Json[]): string[] => items.map(({ id }) => id as string);

  test("a promotion is created with its tiers, and its creation is DONE immediately", async () => {
    const created = await promotion({
      expiration_date: "2099-01-01T00:00:00Z",
      promotion: {
        tiers: [
          { name: "second", hierarchy: 5, action },
          { name: "third", action, banner: "10 % off", active: false, metadata: { a: 1 } },
        ],
      },
    });
    expect(created).toMatchObject({
      campaign_type: "PROMOTION",
      creation_status: "DONE",
      vouchers_generation_status: "DONE",
      vouchers_count: 0,
      promotion: {
        tiers: [
          { object: "promotion_tier", name: "second", hierarchy: 5, active: true, banner: null },
          { name: "third", hierarchy: 6, active: false, banner: "10 % off", metadata: { a: 1 } },
        ],
      },
    });
    expect(created).not.toHaveProperty("voucher");
    expect(await ok(api.get(`/v1/campaigns/${created["id"]}`))).toEqual(created);
    const [first] = created["promotion"].tiers;
    expect(first["campaign"]).toEqual({
      object: "campaign",
      id: created["id"],
      active: true,
      start_date: null,
      expiration_date: "2099-01-01T00:00:00.000Z",
    });
    expect(await rejected(api.post(`/v1/campaigns/${created["id"]}/vouchers`))).toMatchObject({
      key: "invalid_campaign",
    });
  });

  test("a tier is added after the others, read, updated, enabled, disabled and deleted", async () => {
    const campaign = await promotion();
    const path = `/v1/promotions/${encodeURIComponent(campaign["name"])}/tiers`;
    const first = await ok(
      api.post(path, {
        name: "first",
        banner: "yes",
        action: { discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ITEMS" } },
        start_date: "2026-01-01T00:00:00Z",
        validity_hours: {
          daily: [{ start_time: "08:00", expiration_time: "10:00", days_of_week: [1] }],
        },
        metadata: { a: 1 },
      }),
    );
    expect(first).toMatchObject({
      object: "promotion_tier",
      name: "first",
      banner: "yes",
      action: { discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ITEMS" } },
      hierarchy: 1,
      active: true,
      campaign_id: campaign["id"],
      campaign: { object: "campaign", id: campaign["id"], active: true },
      start_date: "2026-01-01T00:00:00.000Z",
      expiration_date: null,
      category_id: null,
      categories: [],
      metadata: { a: 1 },
      summary: {
        redemptions: { total_redeemed: 0 },
        orders: { total_amount: 0, total_discount_amount: 0 },
      },
      updated_at: null,
      validation_rules_assignments: { object: "list", data: [], total: 0 },
    });
    expect(first["id"]).toMatch(/^promo_[0-9a-f]{18}$/);
    const second = await tier(campaign);
    expect(second["hierarchy"]).toBe(2);
    const one = `/v1/promotions/tiers/${first["id"]}`;
    expect(await ok(api.get(one))).toEqual(first);

    const category = await ok(api.post("/v1/categories", { name: newCode("cat"), hierarchy: 3 }));
    const changed = await ok(
      api.put(one, {
        name: "renamed",
        action: { discount: percent(5) },
        hierarchy: 9,
        category_id: category["id"],
        start_date: null,
        metadata: { b: 2 },
      }),
    );
    expect(changed).toMatchObject({
      name: "renamed",
      banner: "yes",
      hierarchy: 9,
      action: { discount: percent(5) },
      start_date: null,
      validity_hours: first["validity_hours"],
      category_id: category["id"],
      categories: [{ id: category["id"], name: category["name"], hierarchy: 3 }],
      metadata: { a: 1, b: 2 },
      updated_at: expect.any(String),
    });
    await ok(api.put(`/v1/categories/${category["id"]}`, { name: "renamed too", hierarchy: 4 }));
    expect((await ok(api.get(one)))["categories"][0]).toMatchObject({ hierarchy: 4 });
    expect((await api.delete(`/v1/categories/${category["id"]}`)).status).toBe(204);
    expect(await ok(api.get(one))).toMatchObject({ category_id: null, categories: [] });

    expect(await ok(api.post(`${one}/disable`))).toMatchObject({ active: false });
    expect(await ok(api.post(`${one}/enable`, {}))).toMatchObject({ active: true });
    const listed = await ok(api.get(path));
    expect(listed).toMatchObject({ object: "list", data_ref: "tiers", total: 2 });
    expect(idsOf(listed["tiers"])).toEqual([second["id"], first["id"]]);
    expect(idsOf((await ok(api.get(`${path}?order=-hierarchy&limit=1`)))["tiers"])).toEqual([
      first["id"],
    ]);
    expect((await api.delete(one)).status).toBe(204);
    for (const request of [api.get(one), api.delete(one), api.post(`${one}/enable`)]) {
      expect(await rejected(request)).toMatchObject({
        key: "not_found",
        resource_type: "promotion_tier",
        details: `Cannot find promotion_tier with id ${first["id"]}`,
      });
    }
  });

  test("tiers that are added concurrently have distinct hierarchies", async () => {
    const campaign = await promotion();
    const tiers = await inParallel(Array.from({ length: 10 }), 10, () => tier(campaign));
    expect(tiers.map(({ hierarchy }) => hierarchy).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  test("the list of tiers can be filtered by current availability", async () => {
    const campaign = await promotion();
    const now = await tier(campaign);
    const off = await tier(campaign, { active: false });
    const over = await tier(campaign, { expiration_date: "2020-01-01T00:00:00Z" });
    const later = await tier(campaign, { start_date: "2099-01-01T00:00:00Z" });
    const scheduled = await promotion({ start_date: "2099-01-01T00:00:00Z" });
    const inside = await tier(scheduled);
    const all = idsOf((await ok(api.get("/v1/promotions/tiers?limit=100")))["tiers"]);
    const available = idsOf(
      (await ok(api.get("/v1/promotions/tiers?limit=100&is_available=true")))["tiers"],
    );
    expect(all.slice(0, 5)).toEqual(idsOf([inside, later, over, off, now]));
    expect(available).toContain(now["id"]);
    for (const { id } of [off, over, later, inside]) expect(available).not.toContain(id);
  });

  test.each([
    [{}, "invalid_payload", "action"],
    [{ action: {} }, "invalid_payload", "discount"],
    [{ action: { discount: { type: "PERCENT" } } }, "invalid_voucher", "percent_off"],
    [{ action, category_id: "cat_no" }, "not_found", "category"],
    [{ action, hierarchy: -1 }, "invalid_payload", "hierarchy"],
    [
      { action, start_date: "2026-02-01T00:00:00Z", expiration_date: "2026-01-01T00:00:00Z" },
      "invalid_campaign_params",
      ".expiration_date",
    ],
    [{ action, validity_timeframe: { interval: "P1D", duration: "P1D" } }, "invalid_payload", ""],
  ])("the tier %j is rejected with %s", async (body, key, details) => {
    const { id } = await promotion();
    const error = await rejected(api.post(`/v1/promotions/${id}/tiers`, { name: "tier", ...body }));
    expect(error).toMatchObject({ key, details: expect.stringContaining(details) });
  });

  test("tiers and stacks are rejected for other campaign types", async () => {
    const coupons = await ok(
      api.post("/v1/campaigns", { name: newCode("c"), voucher: { discount: percent(1) } }),
    );
    for (const [path, body] of [
      ["tiers", { name: "t", action }],
      ["stacks", { name: "s", tiers: { ids: ["promo_1"] } }],
    ] as const) {
      expect(
        await rejected(api.post(`/v1/promotions/${coupons["id"]}/${path}`, body)),
      ).toMatchObject({
        key: "invalid_campaign",
      });
      expect(await rejected(api.post(`/v1/promotions/camp_no/${path}`, body))).toMatchObject({
        key: "not_found",
        resource_type: "campaign",
      });
      expect(await rejected(api.get(`/v1/promotions/camp_no/${path}`))).toMatchObject({
        code: 404,
      });
    }
  });

  test("a stack contains tiers of the project in order, and prevents their deletion", async () => {
    const campaign = await promotion();
    const [a, b] = [await tier(campaign), await tier(await promotion())];
    const path = `/v1/promotions/${encodeURIComponent(campaign["name"])}/stacks`;
    const created = await ok(
      api.post(path, { name: "both", tiers: { ids: [b["id"], a["id"]] }, metadata: { x: 1 } }),
    );
    expect(created).toMatchObject({
      object: "promotion_stack",
      name: "both",
      tiers: { ids: [b["id"], a["id"]], hierarchy_mode: "MANUAL" },
      campaign_id: campaign["id"],
      category_id: null,
      categories: [],
      metadata: { x: 1 },
      updated_at: null,
    });
    expect(created["id"]).toMatch(/^stack_[0-9a-f]{18}$/);
    const one = `${path}/${created["id"]}`;
    expect(await ok(api.get(one))).toEqual(created);
    expect(await ok(api.get(path))).toEqual({
      object: "list",
      data_ref: "data",
      data: [created],
      total: 1,
    });
    expect(idsOf((await ok(api.get("/v1/promotions/stacks")))["data"])).toContain(created["id"]);

    expect(await rejected(api.delete(`/v1/promotions/tiers/${a["id"]}`))).toMatchObject({
      code: 400,
      key: "resource_in_use",
      message: "Resource in use",
      related_object_ids: [created["id"]],
      related_object_type: "promotion_stack",
      related_object_total: 1,
      details: `Resource promotion_tier with id ${a["id"]} is in use by promotion_stacks with ids [${created["id"]}]`,
    });
    const changed = await ok(api.put(one, { name: "one", tiers: { ids: [b["id"]] } }));
    expect(changed).toMatchObject({ name: "one", tiers: { ids: [b["id"]] }, metadata: { x: 1 } });
    expect((await api.delete(`/v1/promotions/tiers/${a["id"]}`)).status).toBe(204);

    for (const [body, key] of [
      [{ name: "s", tiers: { ids: [b["id"], "promo_no"] } }, "not_found"],
      [{ name: "s", tiers: { ids: [b["id"], b["id"]] } }, "invalid_payload"],
      [{ name: "s", tiers: { ids: [] } }, "invalid_payload"],
      [{ name: "s", tiers: {} }, "invalid_payload"],
      [
        { name: "s", tiers: { ids: Array.from({ length: 31 }, (_, i) => `p${i}`) } },
        "invalid_payload",
      ],
      [{ name: "s" }, "invalid_payload"],
      [{ tiers: { ids: [b["id"]] } }, "invalid_payload"],
    ] as const) {
      expect(await rejected(api.post(path, body))).toMatchObject({ key });
    }
    expect(await rejected(api.put(one, { tiers: { ids: ["promo_no"] } }))).toMatchObject({
      key: "not_found",
      resource_type: "promotion_tier",
    });
    expect((await api.delete(one)).status).toBe(204);
    expect(await rejected(api.get(one))).toMatchObject({
      key: "not_found",
      resource_type: "promotion_stack",
    });
  });

  test("a stack may name its category, which is created with it", async () => {
    const campaign = await promotion();
    const { id: tierId } = await tier(campaign);
    const path = `/v1/promotions/${campaign["id"]}/stacks`;
    const body = { name: "named", tiers: { ids: [tierId] } };
    const [first, second] = [newCode("cat"), newCode("cat")];
    const created = await ok(api.post(path, { ...body, category: first }));
    expect(created["categories"]).toMatchObject([{ id: created["category_id"], name: first }]);
    const one = `${path}/${created["id"]}`;
    expect(await ok(api.put(one, { category: second }))).toMatchObject({
      categories: [{ name: second }],
    });
    expect(await ok(api.put(one, { name: "renamed" }))).toMatchObject({
      categories: [{ name: second }],
    });
    const differs = api.put(one, { category: first, category_id: "cat_no" });
    expect(await rejected(differs)).toMatchObject({ key: "not_found" });
    expect(await ok(api.put(one, { category: null }))).toMatchObject({ category_id: null });

    const unused = newCode("cat");
    const unknown = { name: "s", tiers: { ids: ["promo_no"] }, category: unused };
    for (const request of [api.post(path, unknown), api.put(one, unknown)]) {
      expect(await rejected(request)).toMatchObject({ resource_type: "promotion_tier" });
    }
    const { data } = await ok(api.get("/v1/categories?limit=100"));
    expect(data.map(({ name }: Json) => name)).not.toContain(unused);
  });

  test("a tier is either deleted or added to a stack, never both", async () => {
    const campaign = await promotion();
    for (let round = 0; round < 10; round += 1) {
      const created = await tier(campaign);
      const [deleted, stacked] = await Promise.all([
        api.delete(`/v1/promotions/tiers/${created["id"]}`),
        api.post(`/v1/promotions/${campaign["id"]}/stacks`, {
          name: "s",
          tiers: { ids: [created["id"]] },
        }),
      ]);
      expect([
        [204, 404],
        [400, 200],
      ]).toContainEqual([deleted.status, stacked.status]);
    }
  });

  test("the scope promotions is required", async () => {
    const own = await serverApi(stack, "promotions");
    expect((await own.get("/v1/promotions/tiers")).status).toBe(200);
    expect((await own.get("/v1/promotions/stacks")).status).toBe(200);
    const other = await serverApi(stack, "campaigns");
    expect((await other.get("/v1/promotions/tiers")).status).toBe(403);
  });
});
