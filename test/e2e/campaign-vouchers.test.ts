import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const percent = (value: number) => ({ type: "PERCENT", percent_off: value });

describe.each(COMPOSITIONS)("POST /v1/vouchers with a campaign (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const campaign = (more: Json = {}): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        type: "AUTO_UPDATE",
        vouchers_count: 0,
        category: newCode("category"),
        start_date: "2026-01-01T00:00:00Z",
        expiration_date: "2099-01-01T00:00:00Z",
        voucher: {
          discount: percent(10),
          redemption: { quantity: 3 },
          code_config: { pattern: "C-####" },
        },
        ...more,
      }),
    );
  const create = (body: Json) => api.post("/v1/vouchers", { type: "DISCOUNT_VOUCHER", ...body });

  test("takes missing fields from the campaign", async () => {
    const { id, name, category_id } = await campaign();
    const created = await ok(create({ campaign_id: id }));
    expect(created).toMatchObject({
      object: "voucher",
      campaign: name,
      campaign_id: id,
      category_id,
      discount: percent(10),
      start_date: "2026-01-01T00:00:00.000Z",
      expiration_date: "2099-01-01T00:00:00.000Z",
      redemption: { quantity: 3, redeemed_quantity: 0 },
    });
    expect(created["code"]).toMatch(/^C-.{4}$/u);
    const stored = await ok(api.get(`/v1/vouchers/${created["code"]}`));
    expect(stored).toMatchObject({ id: created["id"], campaign_id: id, category_id });
    expect(await ok(api.get(`/v1/campaigns/${id}`))).toMatchObject({ vouchers_count: 1 });
  });

  test("stores the provided fields, and resolves the campaign by name", async () => {
    const { id, name } = await campaign({ validity_day_of_week: [1, 2] });
    const code = newCode("own #1/2");
    const own = {
      discount: { type: "AMOUNT", amount_off: 500 },
      active: false,
      additional_info: "by hand",
      expiration_date: "2030-06-01T00:00:00.000Z",
      metadata: { gate: 7 },
      validity_hours: {
        daily: [{ start_time: "08:00", expiration_time: "09:00", days_of_week: [1] }],
      },
    };
    const created = await ok(
      api.post(`/v1/vouchers/${encodeURIComponent(code)}`, {
        type: "DISCOUNT_VOUCHER",
        campaign: name,
        redemption: { quantity: null },
        ...own,
      }),
    );
    expect(created).toMatchObject({
      code,
      campaign: name,
      campaign_id: id,
      start_date: "2026-01-01T00:00:00.000Z",
      validity_day_of_week: null,
      redemption: { quantity: null },
      ...own,
    });
  });

  test("adds its own validation rules to those of the campaign", async () => {
    const rule = async (least: number): Promise<string> => {
      const rules = { "1": { name: "order.amount", conditions: { $more_than: [least] } } };
      return (await ok(api.post("/v1/validation-rules", { name: newCode("rule"), rules })))["id"];
    };
    const [shared, own] = [await rule(100), await rule(1000)];
    const { id } = await campaign({ validation_rules: [shared] });
    const created = await ok(create({ campaign_id: id, validation_rules: [own] }));
    const ruleIds = (rules: Json) => rules["data"].map(({ rule_id }: Json) => rule_id);
    expect(ruleIds(created["validation_rules_assignments"])).toEqual([own, shared]);
    const validate = (amount: number): Promise<Json> =>
      ok(api.post(`/v1/vouchers/${created["code"]}/validate`, { order: { amount } }));
    expect(await validate(1001)).toMatchObject({ valid: true });
    expect(await validate(1000)).toMatchObject({
      error: { key: "redemption_rules_violated", details: expect.stringContaining(own) },
    });
  });

  test("sets the balance of gift vouchers and loyalty cards from the campaign or the request", async () => {
    const gifts = await campaign({
      campaign_type: "GIFT_VOUCHERS",
      voucher: { gift: { amount: 2000, effect: "APPLY_TO_ITEMS" } },
    });
    const gift = (more: Json): Promise<Json> =>
      ok(create({ type: "GIFT_VOUCHER", campaign_id: gifts["id"], ...more }));
    expect(await gift({})).toMatchObject({
      gift: { amount: 2000, balance: 2000, effect: "APPLY_TO_ITEMS" },
    });
    expect(await gift({ gift: { amount: 700 } })).toMatchObject({
      gift: { amount: 700, balance: 700, effect: "APPLY_TO_ITEMS" },
    });
    const loyalty = await campaign({
      campaign_type: "LOYALTY_PROGRAM",
      voucher: { loyalty_card: { points: 30 } },
    });
    expect(
      await ok(create({ type: "LOYALTY_CARD", campaign: loyalty["name"], discount: null })),
    ).toMatchObject({ loyalty_card: { points: 30, balance: 30 }, is_referral_code: false });
  });

  test("is rejected when the campaign does not accept the voucher, and creates nothing", async () => {
    const coupons = await campaign();
    const promotion = await campaign({ campaign_type: "PROMOTION", voucher: undefined });
    const code = newCode("taken");
    await ok(create({ code, discount: percent(1) }));
    for (const [body, status, key, details] of [
      [{ campaign_id: "camp_0" }, 404, "not_found", "Cannot find campaign with id camp_0"],
      [{ campaign: "nowhere" }, 404, "not_found", "Cannot find campaign with id nowhere"],
      [{ campaign_id: promotion["id"] }, 400, "invalid_campaign", "PROMOTION"],
      [{ campaign_id: coupons["id"], type: "GIFT_VOUCHER" }, 400, "invalid_voucher", "of type"],
      [{ campaign_id: coupons["id"], gift: { amount: 5 } }, 400, "invalid_voucher", ".gift"],
      [{ campaign_id: coupons["id"], code }, 409, "duplicate_found", code],
      [{ campaign_id: coupons["id"], category_id: "cat_0" }, 404, "not_found", "cat_0"],
      [{ campaign_id: coupons["id"], validation_rules: ["val_0"] }, 404, "not_found", "val_0"],
    ] as const) {
      expect((await create(body)).body).toMatchObject({
        code: status,
        key,
        details: expect.stringContaining(details),
      });
    }
    const { body } = await api.get(`/v1/vouchers?campaign_id=${coupons["id"]}`);
    expect(body).toMatchObject({ total: 0 });
  });
});
