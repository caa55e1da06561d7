import { describe, expect, test } from "vitest";

import { type Api, clientApi, type Json, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const OFF_1000: Json = { type: "AMOUNT", amount_off: 1000 };
const OFF_10_PERCENT: Json = { type: "PERCENT", percent_off: 10 };

describe.each(COMPOSITIONS)("promotion tiers (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("are validated individually", async () => {
    const { campaign, tier } = await createTier(OFF_1000, {
      banner: "Ten off",
      metadata: { a: 1 },
    });
    const response = await api.post(`/v1/promotions/tiers/${tier["id"]}/validation`, {
      order: { amount: 5000 },
      customer: { source_id: newCode("buyer") },
    });
    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({
      object: "promotion_tier",
      valid: true,
      id: tier["id"],
      name: tier["name"],
      banner: "Ten off",
      hierarchy: 1,
      metadata: { a: 1 },
      discount: { type: "AMOUNT", amount_off: 1000, effect: "APPLY_TO_ORDER", is_dynamic: false },
      discount_amount: 1000,
      applied_discount_amount: 1000,
      applicable_to: { object: "list", data: [], total: 0 },
      inapplicable_to: { object: "list", data: [], total: 0 },
      tracking_id: expect.stringMatching(/^track_/),
      order: { total_amount: 4000 },
      campaign: {
        object: "campaign",
        id: campaign["id"],
        active: true,
        start_date: null,
        expiration_date: null,
      },
      start_date: null,
      expiration_date: null,
    });

    const unknown = await api.post("/v1/promotions/tiers/promo_0/validation", {});
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ key: "not_found", resource_type: "promotion_tier" });
  });

  test("are matched by campaign id or name in the list of redemptions", async () => {
    const { campaign, tier } = await createTier(OFF_1000);
    const redeemed = await api.post(`/v1/promotions/tiers/${tier["id"]}/redemption`, {
      order: { amount: 5000 },
    });
    expect(redeemed.status, redeemed.text).toBe(200);
    const { campaign: other } = await createTier(OFF_1000);
    const redemptionsOf = async (name: string) => {
      const { status, body, text } = await api.get(
        `/v1/redemptions?campaign=${encodeURIComponent(name)}`,
      );
      expect(status, text).toBe(200);
      return body["redemptions"].map(({ id }: Json) => id);
    };
    expect(await redemptionsOf(campaign["id"])).toEqual([redeemed.body["id"]]);
    expect(await redemptionsOf(campaign["name"])).toEqual([redeemed.body["id"]]);
    expect(await redemptionsOf(other["name"])).toEqual([]);
    expect(await redemptionsOf("no such campaign")).toEqual([]);
    const filtered = await api.get(
      `/v1/redemptions?filters[campaign_id][conditions][$is]=${campaign["id"]}`,
    );
    expect(filtered.body["total"]).toBe(1);
  });

  test("return the reason when they do not apply", async () => {
    const { tier } = await createTier(OFF_1000);
    await api.post(`/v1/promotions/tiers/${tier["id"]}/disable`);
    const response = await api.post(`/v1/promotions/tiers/${tier["id"]}/validation`, {
      order: { amount: 5000 },
    });
    expect(response.body).toMatchObject({
      valid: false,
      reason: "Inactive Promotion",
      error: {
        code: 400,
        key: "promotion_inactive",
        details: `Promotion Tier with id: ${tier["id"]} is disabled.`,
      },
      discount_amount: 0,
      applied_discount_amount: 0,
      discount: { amount_off: 1000 },
    });
    expect(response.body).not.toHaveProperty("order");

    const early = await createTier(OFF_1000, { start_date: "2999-01-01T00:00:00.000Z" });
    const later = await api.post(`/v1/promotions/tiers/${early.tier["id"]}/validation`, {});
    expect(later.body).toMatchObject({ valid: false, error: { key: "promotion_not_active_now" } });
  });

  test("are redeemed like vouchers, without a code", async () => {
    const { campaign, tier } = await createTier(OFF_1000);
    const order = { source_id: newCode("order"), amount: 5000 };
    const created = await api.post(`/v1/promotions/tiers/${tier["id"]}/redemption`, { order });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toMatchObject({
      object: "redemption",
      result: "SUCCESS",
      related_object_type: "promotion_tier",
      related_object_id: tier["id"],
      promotion_tier: {
        object: "promotion_tier",
        id: tier["id"],
        name: tier["name"],
        action: { discount: { amount_off: 1000 } },
        campaign: { id: campaign["id"] },
      },
      order: { status: "PAID", total_amount: 4000 },
    });
    expect(created.body).not.toHaveProperty("voucher");
    const whole = await api.get(`/v1/promotions/tiers/${tier["id"]}`);
    expect(created.body["promotion_tier"]).toMatchObject({
      ...whole.body,
      campaign: { id: campaign["id"] },
      summary: expect.any(Object),
    });
    const stored = await api.get(`/v1/orders/${order.source_id}`);
    expect(stored.body["redemptions"][created.body["id"]]).toMatchObject({
      related_object_type: "promotion_tier",
      related_object_id: tier["id"],
      related_object_parent_id: campaign["id"],
    });
    const unknown = await api.post("/v1/promotions/tiers/promo_0/redemption", {});
    expect(unknown.status).toBe(404);

    await api.post(`/v1/promotions/tiers/${tier["id"]}/disable`);
    const rejected = await api.post(`/v1/promotions/tiers/${tier["id"]}/redemption`, { order });
    expect(rejected.body).toMatchObject({ key: "promotion_inactive", resource_type: "redemption" });
    const failed = await api.get(`/v1/redemptions/${rejected.body["resource_id"]}`);
    expect(failed.body).toMatchObject({ result: "FAILURE", related_object_id: tier["id"] });
  });

  test("combine with vouchers in one validation and one redemption", async () => {
    const { tier } = await createTier(OFF_10_PERCENT);
    const code = newCode("BESIDE");
    await api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount: OFF_1000 });
    const body = {
      redeemables: [
        { object: "promotion_tier", id: tier["id"] },
        { object: "voucher", id: code },
      ],
      order: { amount: 10_000 },
    };
    const validation = await api.post("/v1/validations", {
      ...body,
      options: { expand: ["order", "redeemable"] },
    });
    expect(validation.body).toMatchObject({
      valid: true,
      redeemables: [
        {
          object: "promotion_tier",
          id: tier["id"],
          name: tier["name"],
          campaign_id: tier["campaign_id"],
          result: { discount: { percent_off: 10 } },
          order: { total_applied_discount_amount: 1000 },
        },
        { object: "voucher", id: code, order: { total_discount_amount: 2000 } },
      ],
      order: { total_amount: 8000 },
    });
    const redeemed = await api.post("/v1/redemptions", body);
    expect(redeemed.body).toMatchObject({
      redemptions: [{ promotion_tier: { id: tier["id"] } }, { voucher: { code } }],
      order: { total_amount: 8000 },
    });
  });

  test("are applied in the order of their stack, which cannot be combined with other redeemables", async () => {
    const first = await createTier(OFF_10_PERCENT);
    const second = await createTier(OFF_1000, {}, first.campaign);
    const stacked = await api.post(`/v1/promotions/${first.campaign["id"]}/stacks`, {
      name: newCode("stack"),
      tiers: { ids: [second.tier["id"], first.tier["id"]] },
    });
    expect(stacked.status, stacked.text).toBe(200);
    const redeemables = [{ object: "promotion_stack", id: stacked.body["id"] }];
    const order = { amount: 10_000 };
    const validation = await api.post("/v1/validations", { redeemables, order });
    expect(validation.body).toMatchObject({
      valid: true,
      redeemables: [
        { object: "promotion_tier", id: second.tier["id"], order: { total_amount: 9000 } },
        { object: "promotion_tier", id: first.tier["id"], order: { total_amount: 8100 } },
      ],
      order: { total_amount: 8100 },
    });
    const redeemed = await api.post("/v1/redemptions", { redeemables, order });
    expect(redeemed.body).toMatchObject({
      redemptions: [{ related_object_id: second.tier["id"] }, {}],
      parent_redemption: { related_object_type: "redemption" },
    });

    const combined = await api.post("/v1/validations", {
      redeemables: [...redeemables, { object: "promotion_tier", id: first.tier["id"] }],
    });
    expect(combined.status).toBe(400);
    expect(combined.body).toMatchObject({
      key: "invalid_redeemables",
      details: "Promotion Stack cannot be use with other redeemables",
    });
    const unknown = await api.post("/v1/validations", {
      redeemables: [{ object: "promotion_stack", id: "stack_0" }],
    });
    expect(unknown.body).toMatchObject({
      valid: false,
      redeemables: [
        {
          object: "promotion_stack",
          result: { error: { code: 404, key: "not_found", resource_type: "promotion_stack" } },
        },
      ],
    });
  });

  test("are all returned that apply, ordered by hierarchy and evaluated individually", async () => {
    const low = await createTier(OFF_1000, { hierarchy: 900_002 });
    const high = await createTier(OFF_10_PERCENT, { hierarchy: 900_001 }, low.campaign);
    const off = await createTier(OFF_1000, { hierarchy: 900_003, active: false }, low.campaign);
    const ids = new Set([high, low, off].map(({ tier }) => tier["id"]));
    const request = { order: { amount: 10_000 } };
    const response = await api.post("/v1/promotions/validation", request);
    expect(response.status, response.text).toBe(200);
    expect(response.body["valid"]).toBe(true);
    const own = response.body["promotions"].filter(({ id }: Json) => ids.has(id));
    expect(own).toMatchObject([
      { id: high.tier["id"], order: { total_amount: 9000 } },
      { id: low.tier["id"], order: { total_amount: 9000 } },
    ]);
    const client = await clientApi(stack, "https://shop.example");
    const clientResponse = await client.post("/client/v1/promotions/validation", request);
    expect(clientResponse.body["promotions"]).toHaveLength(response.body["promotions"].length);
  });

  async function createTier(discount: Json, fields: Json = {}, parent?: Json) {
    const campaign = parent ?? (await createCampaign(api));
    const created = await api.post(`/v1/promotions/${campaign["id"]}/tiers`, {
      name: newCode("tier"),
      action: { discount },
      ...fields,
    });
    expect(created.status, created.text).toBe(200);
    return { campaign, tier: created.body };
  }
});

async function createCampaign(api: Api): Promise<Json> {
  const created = await api.post("/v1/campaigns", {
    name: newCode("promotion"),
    campaign_type: "PROMOTION",
  });
  expect(created.status, created.text).toBe(200);
  return created.body;
}
