import { describe, expect, test } from "vitest";

import {
  type Api,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** A redeemable that does not apply, and its rejection on every validation and redemption endpoint. */
type Scenario = {
  readonly name: string;
  readonly voucher?: Json;
  readonly rule?: Json;
  readonly request?: Json;
  readonly key: string;
  readonly message: string;
  /** CODE stands for the code, RULE for the id of the rule. */
  readonly details: string;
  /** The key and message of the single-redeemable endpoints, where they differ. */
  readonly single?: { readonly key: string; readonly message: string };
};

const violated = (subject: string) => `${subject} does not match validation rules`;
const SINGLE = { key: "redemption_rules_violated", message: violated("redemption") };
const VIOLATED_RULE =
  "Discount Coupon cannot be redeemed because of violated validation rules: RULE";
const GIFT: Json = { type: "GIFT_VOUCHER", discount: undefined, gift: { amount: 500 } };
const atMost = (name: string, limit: number): Json => ({
  rules: { "1": { name, conditions: { $less_than_or_equal: [limit] } }, logic: "1" },
});

const SCENARIOS: readonly Scenario[] = [
  {
    name: "is disabled",
    voucher: { active: false },
    key: "voucher_disabled",
    message: "voucher is disabled",
    details: "CODE",
  },
  {
    name: "has expired",
    voucher: { expiration_date: "2020-01-01T00:00:00.000Z" },
    key: "voucher_expired",
    message: "voucher expired",
    details: "CODE",
  },
  {
    name: "is not active yet",
    voucher: { start_date: "2999-01-01T00:00:00.000Z" },
    key: "voucher_not_active",
    message: "voucher not active yet",
    details: "CODE",
  },
  {
    name: "is outside its time windows",
    voucher: {
      start_date: "2020-01-01T00:00:00.000Z",
      validity_timeframe: { interval: "P900Y", duration: "PT1H" },
    },
    key: "voucher_not_active_now",
    message: "voucher not active now",
    details: "CODE",
  },
  {
    name: "is exhausted",
    voucher: { redemption: { quantity: 0 } },
    key: "quantity_exceeded",
    message: "quantity exceeded",
    details: "CODE",
  },
  {
    name: "has fewer credits than requested",
    voucher: GIFT,
    request: { gift: { credits: 501 } },
    key: "gift_amount_exceeded",
    message: "gift amount exceeded",
    details: "CODE",
  },
  {
    name: "applies credits to items, but the order has none",
    voucher: { ...GIFT, gift: { amount: 500, effect: "APPLY_TO_ITEMS" } },
    key: "missing_order_items_amount",
    message: "Missing applicable order items",
    details:
      "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
  },
  {
    name: "has rules that the order violates",
    rule: atMost("order.amount", 999),
    key: "order_rules_violated",
    message: violated("order"),
    details: VIOLATED_RULE,
    single: SINGLE,
  },
  {
    name: "requires an order",
    rule: atMost("order.amount", 999),
    request: { order: undefined },
    key: "missing_amount",
    message: "Missing order amount",
    details: "Order is required to validate rules",
  },
  {
    name: "has rules that the customer violates",
    rule: {
      rules: {
        "1": { name: "customer.metadata", property: "vip", conditions: { $is: [true] } },
        logic: "1",
      },
    },
    request: { customer: { source_id: "somebody" } },
    key: "customer_rules_violated",
    message: violated("customer"),
    details: VIOLATED_RULE,
    single: SINGLE,
  },
  {
    name: "requires a customer",
    rule: {
      rules: {
        "1": { name: "customer.metadata", property: "vip", conditions: { $is: [true] } },
        logic: "1",
      },
    },
    key: "missing_customer",
    message: "Missing customer",
    details: "Customer is required to validate rules",
  },
  {
    name: "has reached its daily limit",
    rule: atMost("redemption.count.daily", 0),
    key: "redemption_rules_violated",
    message: violated("redemption"),
    details: VIOLATED_RULE,
  },
];

describe.each(COMPOSITIONS)("rejections (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test.each(SCENARIOS)("are the same on every endpoint when a voucher $name", async (scenario) => {
    const { code, ruleId } = await createScenario(api, scenario);
    const { key, message, single = { key, message } } = scenario;
    const details = scenario.details.replace("CODE", code).replace("RULE", ruleId);
    const { gift, ...rest } = scenario.request ?? {};
    const body = { order: { amount: 1000 }, ...rest };
    const redeemables = [{ object: "voucher", id: code, ...(gift && { gift }) }];

    const stacked = await api.post("/v1/validations", { ...body, redeemables });
    expect(stacked.status, stacked.text).toBe(200);
    expect(stacked.body).toMatchObject({
      valid: false,
      inapplicable_redeemables: [
        {
          status: "INAPPLICABLE",
          result: { error: { code: 400, key, message, details }, details: { key, message } },
        },
      ],
    });
    const alone = { ...body, ...(gift && { gift }) };
    const validation = await api.post(`/v1/vouchers/${code}/validate`, alone);
    expect(validation.body).toMatchObject({
      valid: false,
      code,
      reason: single.message,
      error: { code: 400, ...single, details },
      applicable_to: { data: [] },
      inapplicable_to: { data: [] },
      metadata: {},
    });
    expect(validation.body).toHaveProperty("tracking_id");

    for (const redeemed of [
      await api.post("/v1/redemptions", { ...body, redeemables }),
      await api.post(`/v1/vouchers/${code}/redemption`, alone),
    ]) {
      expect(redeemed.status, redeemed.text).toBe(400);
      expect(redeemed.body).toMatchObject({
        code: 400,
        key,
        message,
        details,
        resource_type: "redemption",
        resource_id: expect.stringMatching(/^rf_[0-9a-f]{18}$/),
      });
      const failed = await api.get(`/v1/redemptions/${redeemed.body["resource_id"]}`);
      expect(failed.body).toMatchObject({
        result: "FAILURE",
        status: "FAILED",
        failure_code: key,
        failure_message: message,
        order: null,
      });
    }
  });

  test("include the merchant's error message", async () => {
    const rule = { ...atMost("order.amount", 1), error: { message: "Only for small orders" } };
    const { code } = await createScenario(api, { rule });
    const body = { order: { amount: 1000 } };
    const single = await api.post(`/v1/vouchers/${code}/validate`, body);
    expect(single.body).toMatchObject({
      reason: SINGLE.message,
      error: { message: SINGLE.message, error: { message: "Only for small orders" } },
    });
    const redeemables = [{ object: "voucher", id: code }];
    const stacked = await api.post("/v1/validations", { ...body, redeemables });
    expect(stacked.body["redeemables"][0].result).toMatchObject({
      error: { message: violated("order"), error: { message: "Only for small orders" } },
      details: { key: "order_rules_violated", message: "Only for small orders" },
    });
  });

  test("reject a single request for a loyalty card without a reward", async () => {
    const code = newCode("CARD");
    await api.post("/v1/vouchers", { code, type: "LOYALTY_CARD", loyalty_card: { points: 10 } });
    const missing = {
      key: "missing_reward",
      message: "Missing reward",
      details: "A reward is required when redeeming a LOYALTY_CARD",
    };
    const single = await api.post(`/v1/vouchers/${code}/validate`, {});
    expect(single.status).toBe(400);
    expect(single.body).toMatchObject(missing);
    const stacked = await api.post("/v1/validations", {
      redeemables: [{ object: "voucher", id: code }],
    });
    expect(stacked.body).toMatchObject({
      valid: false,
      redeemables: [{ result: { error: missing } }],
    });
  });

  test("explain which customers may not use a referral code, and the order stores the referrer", async () => {
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("referral"),
      campaign_type: "REFERRAL_PROGRAM",
      type: "STATIC",
      vouchers_count: 0,
      voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } },
    });
    expect(campaign.status, campaign.text).toBe(200);
    const code = newCode("REFER");
    const created = await api.post(`/v1/campaigns/${campaign.body["id"]}/vouchers/${code}`, {});
    expect(created.body, created.text).toMatchObject({ is_referral_code: true });
    const [referrer, buyer] = [{ source_id: newCode("referrer") }, { source_id: newCode("buyer") }];
    const redeem = (body: Json) =>
      api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1000 }, ...body });

    expect((await redeem({ customer: buyer })).body).toMatchObject({ key: "not_published" });
    const published = await api.post("/v1/publications", { voucher: code, customer: referrer });
    expect(published.status, published.text).toBe(200);
    const referrerId = published.body["customer_id"];
    const whose = { is_referral_code: true, holder_id: referrerId, referrer_id: referrerId };
    expect(published.body["voucher"]).toMatchObject(whose);
    expect((await api.get(`/v1/vouchers/${code}`)).body).toMatchObject(whose);

    expect((await redeem({})).body).toMatchObject({ key: "invalid_customer" });
    const expected = {
      key: "referrer_not_permitted_to_redeem",
      message: "voucher cannot be redeemed by referrer",
      details: code,
    };
    expect((await redeem({ customer: referrer })).body).toMatchObject(expected);
    const validation = await api.post("/v1/validations", {
      redeemables: [voucherOf(code)],
      customer: referrer,
      order: { amount: 1000 },
    });
    expect(validation.body["redeemables"][0]).toMatchObject({
      status: "INAPPLICABLE",
      result: { error: expected },
    });
    expect((await redeem({ customer: buyer })).body).toMatchObject({
      order: { referrer_id: referrerId, referrer: { id: referrerId, object: "customer" } },
    });
  });

  test("return 404 for an unknown code in a redemption, and valid: false in a validation", async () => {
    const code = newCode("NONE");
    const expected = {
      code: 404,
      key: "not_found",
      message: "Resource not found",
      details: `Cannot find voucher with id ${code}`,
      resource_type: "voucher",
      resource_id: code,
    };
    const redeemables = [voucherOf(code)];
    const validation = await api.post("/v1/validations", { redeemables });
    expect(validation.body).toMatchObject({
      valid: false,
      redeemables: [{ status: "INAPPLICABLE", result: { error: expected } }],
    });
    for (const [path, body] of [
      ["/v1/redemptions", { redeemables }],
      [`/v1/vouchers/${code}/validate`, {}],
      [`/v1/vouchers/${code}/redemption`, {}],
    ] as const) {
      const response = await api.post(path, body);
      expect([response.status, response.body["key"]]).toEqual([404, "not_found"]);
      expect(response.body).toMatchObject(expected);
    }
  });

  test("use a key of their own when no redeemable applies in mode PARTIAL", async () => {
    const { id, api: own } = await newProject(stack);
    await managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      redeemables_application_mode: "PARTIAL",
    });
    const [good, bad] = [
      await createScenario(own, {}),
      await createScenario(own, { voucher: { active: false } }),
    ];
    const order = { amount: 1000 };
    const both = [voucherOf(bad.code), voucherOf(newCode("NONE")), voucherOf(good.code)];

    const created = await own.post("/v1/redemptions", { redeemables: both, order });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toMatchObject({
      redemptions: [{ voucher: { code: good.code } }],
      inapplicable_redeemables: [
        { id: bad.code, result: { error: { key: "voucher_disabled" } } },
        { result: { error: { key: "not_found" } } },
      ],
      skipped_redeemables: [],
    });
    const none = await own.post("/v1/redemptions", { redeemables: both.slice(0, 2), order });
    expect(none.status).toBe(400);
    expect(none.body).toMatchObject({
      key: "no_applicable_redeemables",
      message: "No applicable redeemables",
      resource_type: "redemption",
    });
    const failed = await own.get(`/v1/redemptions/${none.body["resource_id"]}`);
    expect(failed.body).toMatchObject({ failure_code: "no_applicable_redeemables" });
  });
});

const voucherOf = (id: string): Json => ({ object: "voucher", id });

async function createScenario(api: Api, { voucher, rule }: Pick<Scenario, "voucher" | "rule">) {
  const code = newCode("REJECTED");
  const ruleId = rule === undefined ? "" : await ruleOf(api, rule);
  const created = await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "AMOUNT", amount_off: 100 },
    ...(ruleId !== "" && { validation_rules: [ruleId] }),
    ...voucher,
  });
  expect(created.status, created.text).toBe(200);
  return { code, ruleId };
}

async function ruleOf(api: Api, rule: Json): Promise<string> {
  const created = await api.post("/v1/validation-rules", { name: newCode("rule"), ...rule });
  expect(created.status, created.text).toBe(200);
  return created.body["id"] as string;
}
