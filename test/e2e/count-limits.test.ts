import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const OFF_100: Json = { type: "AMOUNT", amount_off: 100 };

describe.each(COMPOSITIONS)("count rules (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("let a new customer redeem once in a campaign when requests race", async () => {
    const { redeemables } = await createCampaign("campaign.redemptions.customers_count", 1, 8);
    const customer = { source_id: newCode("buyer") };
    const responses = await inParallel(redeemables, 8, (redeemable) =>
      redeem([redeemable], { customer }),
    );
    expect(countSuccesses(responses)).toBe(1);
    expect(errorKeysIn(responses)).toEqual(["redemption_rules_violated"]);
    const other = await redeem([redeemables[0] as Json], {
      customer: { source_id: newCode("buyer") },
    });
    expect(other.status, other.text).toBe(200);
  });

  test("count each redeemable of a stack", async () => {
    const { redeemables } = await createCampaign("campaign.redemptions.count", 2, 4);
    const three = await redeem(redeemables.slice(0, 3));
    expect(three.body).toMatchObject({ key: "redemption_rules_violated" });
    const two = await redeem(redeemables.slice(0, 2));
    expect(two.status, two.text).toBe(200);
    const one = await redeem(redeemables.slice(2, 3));
    expect(one.body).toMatchObject({ key: "redemption_rules_violated" });
  });

  test("never let sums of money exceed the limit, even when stacks race", async () => {
    const { redeemables, campaignId } = await createCampaign(
      "campaign.orders.amount_discounted",
      500,
      8,
    );
    const pairs = redeemables.flatMap((one, index) =>
      redeemables.slice(index + 1).map((other) => [one, other]),
    );
    const responses = await inParallel(pairs, 16, (pair) => redeem(pair));
    // Each takes 2.00 off, so the third would exceed 5.00.
    expect(countSuccesses(responses)).toBe(2);
    const single = await redeem(redeemables.slice(0, 1));
    expect(single.status, single.text).toBe(200);
    const full = await redeem(redeemables.slice(0, 1));
    expect(full.body).toMatchObject({ key: "redemption_rules_violated" });

    const rollback = await api.post(`/v1/redemptions/${single.body["redemptions"][0].id}/rollback`);
    expect(rollback.status, rollback.text).toBe(200);
    const again = await redeem(redeemables.slice(1, 2));
    expect(again.status, `${campaignId}: ${again.text}`).toBe(200);
  });

  test.each([
    ["", {}],
    ["_customer", { customer: { source_id: "buyer" } }],
  ])(
    "cap the units of a voucher without a campaign (product%s_campaign_quantity_limit)",
    async (whose, buyer) => {
      const product = await api.post("/v1/products", { name: "Shirt", price: 1_000 });
      for (const limit of [
        { [`product${whose}_campaign_quantity_limit`]: 10 },
        {
          [`product${whose}_campaign_quantity_limit`]: 1,
          [`product${whose}_campaign_quantity_limit_formula`]: "4 + 6",
        },
      ]) {
        const code = newCode("BUDGET");
        const entry = { object: "product", id: product.body["id"], ...limit };
        const rule = await api.post("/v1/validation-rules", {
          name: newCode("rule"),
          applicable_to: { included: [entry] },
        });
        const created = await api.post("/v1/vouchers", {
          code,
          type: "DISCOUNT_VOUCHER",
          discount: { ...OFF_100, effect: "APPLY_TO_ITEMS_BY_QUANTITY" },
          validation_rules: [rule.body["id"]],
        });
        expect(created.status, created.text).toBe(200);
        const buy = async (quantity: number): Promise<Json> => {
          const order = { items: [{ product_id: product.body["id"], quantity }] };
          const { status, body, text } = await redeem([{ object: "voucher", id: code }], {
            order,
            ...buyer,
          });
          expect(status, text).toBe(200);
          return body;
        };
        const discounts = [];
        let last: Json = {};
        for (const quantity of [5, 4, 3]) {
          last = await buy(quantity);
          discounts.push(last["order"].total_discount_amount);
        }
        expect(discounts).toEqual([500, 400, 100]);
        await api.post(`/v1/redemptions/${last["redemptions"][0].id}/rollback`);
        const racing = await inParallel([3, 3, 3], 3, buy);
        const sum = racing.reduce(
          (total, { order }) => total + (order.total_discount_amount ?? 0),
          0,
        );
        expect(sum).toBe(100);
      }
    },
  );

  test("cap the units of a new customer when requests race", async () => {
    const product = await api.post("/v1/products", { name: "Shirt", price: 1_000 });
    const entry = {
      object: "product",
      id: product.body["id"],
      product_customer_campaign_quantity_limit: 10,
    };
    const rule = await api.post("/v1/validation-rules", {
      name: newCode("rule"),
      applicable_to: { included: [entry] },
    });
    const code = newCode("BUDGET");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { ...OFF_100, effect: "APPLY_TO_ITEMS_BY_QUANTITY" },
      validation_rules: [rule.body["id"]],
    });
    const customer = { source_id: newCode("buyer") };
    const order = { items: [{ product_id: product.body["id"], quantity: 10 }] };
    const responses = await inParallel([1, 2, 3], 3, () =>
      redeem([{ object: "voucher", id: code }], { customer, order }),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const discounts = responses.map(({ body }) => body["order"].total_discount_amount ?? 0);
    expect(discounts.toSorted((a, b) => a - b)).toEqual([0, 0, 1_000]);
  });

  test("count the redemptions of each promotion tier separately", async () => {
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("promotion"),
      campaign_type: "PROMOTION",
    });
    const tier = await api.post(`/v1/promotions/${campaign.body["id"]}/tiers`, {
      name: newCode("tier"),
      action: { discount: OFF_100 },
      validation_rules: [await ruleOf("redemption.count.per_customer", 2)],
    });
    expect(tier.status, tier.text).toBe(200);
    const redeemables = [{ object: "promotion_tier", id: tier.body["id"] }];
    const customer = { source_id: newCode("buyer") };
    const requests = Array.from({ length: 8 }, (_, index) => index);
    const responses = await inParallel(requests, 8, () => redeem(redeemables, { customer }));
    expect(countSuccesses(responses)).toBe(2);
    expect(errorKeysIn(responses)).toEqual(["redemption_rules_violated"]);
    const withoutCustomer = await redeem(redeemables);
    expect(withoutCustomer.body).toMatchObject({ key: "missing_customer" });
  });

  test.each([
    ["Monday", {}, "2026-11-22T22:59:59Z", "2026-11-22T23:00:00Z"],
    ["Sunday", { first_weekday: 0 }, "2026-11-21T22:59:59Z", "2026-11-21T23:00:00Z"],
  ])("start a new week on %s in the project's time zone", async (_day, settings, last, next) => {
    const sandbox = { sandbox: true, timezone: "Europe/Warsaw" };
    const project = await newProject(stack, { ...sandbox, ...settings });
    const clock = `/management/v1/projects/${project.id}/clock`;
    const setClock = async (now: string) =>
      expect((await managementApi(stack).put(clock, { now })).status).toBe(200);
    await setClock(last);
    const code = newCode("WEEKLY");
    const rule = await project.api.post("/v1/validation-rules", {
      name: "Once a week",
      rules: { "1": { name: "redemption.count.weekly", conditions: { $less_than_or_equal: [1] } } },
    });
    await project.api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: OFF_100,
      validation_rules: [rule.body["id"]],
    });
    const redeemed = async () => (await project.api.post(`/v1/vouchers/${code}/redemption`)).status;
    const countCreatedThisWeek = async () => {
      const query = "filters[created_at][conditions][$this_week]=";
      return (await project.api.get(`/v1/vouchers?${query}`)).body["total"];
    };
    expect([await redeemed(), await redeemed(), await countCreatedThisWeek()]).toEqual([
      200, 400, 1,
    ]);
    await setClock(next);
    expect([await redeemed(), await redeemed(), await countCreatedThisWeek()]).toEqual([
      200, 400, 0,
    ]);
  });

  async function createCampaign(name: string, limit: number, count: number) {
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("campaign"),
      campaign_type: "DISCOUNT_COUPONS",
      type: "STATIC",
      vouchers_count: 0,
      validation_rules: [await ruleOf(name, limit)],
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: OFF_100,
        redemption: { quantity: null },
      },
    });
    expect(campaign.status, campaign.text).toBe(200);
    const campaignId = campaign.body["id"] as string;
    const redeemables = await inParallel(Array.from({ length: count }), 2, async () => {
      const id = newCode("COUNT");
      const created = await api.post(`/v1/campaigns/${campaignId}/vouchers/${id}`, {});
      expect(created.status, created.text).toBe(200);
      return { object: "voucher", id };
    });
    return { campaignId, redeemables };
  }

  async function ruleOf(name: string, limit: number): Promise<string> {
    const created = await api.post("/v1/validation-rules", {
      name: newCode("rule"),
      rules: { "1": { name, conditions: { $less_than_or_equal: [limit] } }, logic: "1" },
    });
    expect(created.status, created.text).toBe(200);
    return created.body["id"] as string;
  }

  const redeem = (redeemables: readonly Json[], fields: Json = {}): Promise<ApiResponse> =>
    api.post("/v1/redemptions", { redeemables, order: { amount: 1000 }, ...fields });
});

const countSuccesses = (responses: readonly ApiResponse[]): number =>
  responses.filter(({ status }) => status === 200).length;

const errorKeysIn = (responses: readonly ApiResponse[]): readonly string[] => [
  ...new Set(
    responses.flatMap(({ status, body }) => (status === 200 ? [] : [String(body["key"])])),
  ),
];
