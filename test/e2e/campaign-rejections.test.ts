import { describe, expect, test } from "vitest";

import { newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const percent = (value: number) => ({ type: "PERCENT", percent_off: value });

describe.each(COMPOSITIONS)("POST /v1/campaigns (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test.each([
    [{ voucher: {} }, "invalid_campaign", "'discount' is required"],
    [
      { campaign_type: "REFERRAL_PROGRAM" },
      "invalid_campaign",
      "Property 'discount' is required for REFERRAL_PROGRAM campaign",
    ],
    [{ campaign_type: "GIFT_VOUCHERS", voucher: { gift: {} } }, "invalid_campaign", "gift.amount"],
    [{ campaign_type: "LOYALTY_PROGRAM" }, "invalid_campaign", "loyalty_card.points"],
    [
      {
        campaign_type: "DISCOUNT_COUPONS",
        voucher: { type: "GIFT_VOUCHER", discount: percent(1) },
      },
      "invalid_campaign",
      "must be of type DISCOUNT_VOUCHER",
    ],
    [{ type: "STANDALONE", voucher: { discount: percent(1) } }, "invalid_campaign", "'code'"],
    [{ voucher: { discount: percent(1), code: "A" } }, "invalid_campaign", "STANDALONE"],
    [{ campaign_type: "PROMOTION", vouchers_count: 1 }, "invalid_campaign", "PROMOTION"],
    [{ voucher: { discount: { type: "AMOUNT" } } }, "invalid_voucher", "amount_off"],
    [
      { voucher: { discount: percent(1) }, vouchers_count: 5_000_001 },
      "invalid_campaign_params",
      "can have up to 5000000 vouchers",
    ],
    [
      {
        voucher: { discount: percent(1) },
        start_date: "2026-02-01T00:00:00Z",
        expiration_date: "2026-01-01T00:00:00Z",
      },
      "invalid_campaign_params",
      ".expiration_date",
    ],
    [
      {
        voucher: { discount: percent(1) },
        validity_timeframe: { interval: "P2D", duration: "P1D" },
      },
      "invalid_payload",
      ".start_date",
    ],
    [
      {
        voucher: { discount: percent(1), code_config: { charset: "ab", length: 1 } },
        vouchers_count: 3,
      },
      "invalid_code_config",
      "Code config allows to generate up to 2 unique codes, requested 3",
    ],
    [{ voucher: { discount: percent(1), code_config: { length: 0 } } }, "invalid_code_config", ""],
    [{ voucher: { discount: percent(1) }, category_id: "cat_no" }, "not_found", "category"],
    [
      { voucher: { discount: percent(1) }, category_id: "cat_no", category: "x" },
      "not_found",
      "category",
    ],
    [{ name: "" }, "invalid_payload", ".name"],
    [{ voucher: { discount: percent(1) }, campaign_type: "OTHER" }, "invalid_payload", ""],
    [{ voucher: { discount: percent(1) }, vouchers_count: -1 }, "invalid_payload", ""],
  ])("rejects %j with %s", async (body, key, details) => {
    const name = newCode("rejected");
    const { body: error } = await api.post("/v1/campaigns", { name, ...body });
    expect(error).toMatchObject({ key, details: expect.stringContaining(details) });
    expect((await api.get(`/v1/campaigns/${name}`)).body).toMatchObject({
      key: "not_found",
      resource_type: "campaign",
      details: `Cannot find campaign with id ${name}`,
    });
  });

  test("rejects updates of what a promotion does not have", async () => {
    const name = newCode("promotion");
    await api.post("/v1/campaigns", { name, campaign_type: "PROMOTION" });
    for (const [field, value] of [
      ["discount", percent(1)],
      ["gift", { amount: 1 }],
      ["loyalty_card", { points: 1 }],
    ] as const) {
      const { body } = await api.put(`/v1/campaigns/${name}`, { [field]: value });
      expect(body).toMatchObject({
        key: "invalid_campaign",
        details: `Property '${field}' does not belong to this campaign`,
      });
    }
  });

  test("rejects validation rules on a loyalty program", async () => {
    const { body: rule } = await api.post("/v1/validation-rules", {
      name: newCode("rule"),
      rules: {
        "1": { name: "order.amount", conditions: { $more_than: [1] } },
        logic: "1",
      },
    });
    const name = newCode("rejected");
    const { body } = await api.post("/v1/campaigns", {
      name,
      campaign_type: "LOYALTY_PROGRAM",
      voucher: { loyalty_card: { points: 0 } },
      validation_rules: [rule["id"]],
    });
    expect(body).toMatchObject({
      key: "invalid_campaign",
      details: expect.stringContaining("validation_rules"),
    });
    const { body: assignments } = await api.get(`/v1/validation-rules/${rule["id"]}/assignments`);
    expect(assignments["total"]).toBe(0);
  });
});
