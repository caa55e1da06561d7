import { countKey } from "@scrip/rules";
import { describe, expect, test } from "vitest";

import {
  amountOff,
  buildCampaign,
  buildCustomer,
  buildDiscount,
  buildDiscountVoucher,
  buildGiftCard,
  buildLine,
  buildOrder,
  buildRule,
  buildTier,
  buildVoucher,
  evaluateRedeemables,
  buildSingleRule,
  percentOff,
  voucherRedeemable,
  evaluateRejected,
  buildRequest,
  tierRedeemable,
} from "../../../test/builders.ts";
import { collectionsToLoad } from "../catalogue/items-to-load.ts";
import type { CountGuard } from "../counts/count-guard.ts";
import { countsToLoad } from "../counts/rule-counts.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { ApplicableRedeemable } from "../decision/decision.ts";
import { singleRedeemableRejection } from "../rejections/rejection.ts";
import { rejections } from "./rejections.test-cases.ts";

describe("a redeemable is rejected for", () => {
  test.each(rejections)("%s", (_what, request, rejection) => {
    expect(evaluateRejected(request).rejection).toEqual(rejection);
    expect(evaluateRejected({ ...request, explain: true }).rejection).toEqual(rejection);
  });

  test("reports violated rules under one key for a single redeemable", () => {
    const key = (from: Parameters<typeof singleRedeemableRejection>[0]["key"]) =>
      singleRedeemableRejection({ key: from }).key;
    expect(key("customer_rules_violated")).toBe("redemption_rules_violated");
    expect(key("order_rules_violated")).toBe("redemption_rules_violated");
    expect(key("redemption_rules_violated")).toBe("redemption_rules_violated");
    expect(key("quantity_exceeded")).toBe("quantity_exceeded");
  });
});

describe("rules read", () => {
  const customer = buildCustomer({
    id: "cust_1",
    segments: ["seg_1"],
    loyaltyTiers: ["ltr_1"],
    metadata: { age: 20, plan: "gold" },
  });
  const order = buildOrder({
    metadata: { shop: "web" },
    lines: [
      buildLine({ productId: "prod_1", quantity: 2n, prices: { line: 1000n } }),
      buildLine({ productId: "prod_2", collections: ["pc_1"], prices: { line: 500n } }),
    ],
  });
  const caller = { channelId: "app_1", userId: "ann" };

  test.each<readonly [string, object, string | undefined]>([
    ["customer.segment", { $is: ["seg_1"] }, undefined],
    ["customer.loyalty.tier", { $is: ["ltr_1"] }, undefined],
    ["customer.metadata", { $more_than: [18] }, "age"],
    ["order.amount", { $is: [2500] }, undefined],
    ["order.initial_amount", { $is: [2500] }, undefined],
    ["order.total_amount", { $is: [2250] }, undefined],
    ["order.items.count", { $is: [3] }, undefined],
    ["order.metadata", { $is: ["web"] }, "shop"],
    ["order.items.any", { $is: ["prod_1"] }, undefined],
    ["order.items.any", { $from: ["pc_1"] }, undefined],
    ["order.items.price_each", { $more_than_or_equal: [500] }, undefined],
    ["redemption.metadata", { $is: ["till"] }, "place"],
    ["redemption.api_key", { $is: ["app_1"] }, undefined],
    ["redemption.user.login", { $is: ["ann"] }, undefined],
    ["publication.redeemable_by_linked_customer", { $is: [true] }, undefined],
    ["redemption.count.per_user", { $is: [1] }, undefined],
    ["campaign.orders.amount", { $is: [2500] }, undefined],
    ["campaign.orders.amount_discounted", { $is: [250] }, undefined],
  ])("%s", (name, conditions, property) => {
    const rules = [buildSingleRule(name, conditions, { property })];
    const voucher = buildVoucher({ rules, holderId: "cust_1", campaign: buildCampaign() });
    const redeemables = [voucherRedeemable(voucher)];
    const metadata = { place: "till" };
    expect(evaluateRedeemables({ redeemables, customer, order, caller, metadata })).toMatchObject([
      { status: "APPLICABLE" },
    ]);
  });

  test("the amount left to pay after earlier redeemables, and the amount of the request", () => {
    const rules = [
      buildSingleRule("order.amount", { $is: [9000] }),
      buildSingleRule("order.initial_amount", { $is: [10_000] }),
      buildSingleRule("order.total_amount", { $is: [8100] }),
    ].map((rule, at) => ({ ...rule, id: `val_${at}` }));
    const redeemables = [
      voucherRedeemable(buildDiscountVoucher("a", amountOff(1000n))),
      voucherRedeemable(buildDiscountVoucher("b", percentOff("10"), { rules })),
    ];
    const evaluated = evaluateRedeemables({ redeemables, order: buildOrder({ amount: 10_000n }) });
    expect(evaluated.map(({ status }) => status)).toEqual(["APPLICABLE", "APPLICABLE"]);
  });

  test("only the lines of the request, without units that an earlier redeemable added", () => {
    const rules = [buildSingleRule("order.items.count", { $is: [3] })];
    const gift = buildDiscount({
      type: "UNIT",
      effect: "ADD_NEW_ITEMS",
      unitOff: 5n,
      unitType: "prod_1",
    });
    const redeemables = [
      voucherRedeemable(buildDiscountVoucher("a", gift)),
      voucherRedeemable(buildDiscountVoucher("b", percentOff("10"), { rules })),
    ];
    expect(evaluateRedeemables({ redeemables, order }).at(-1)?.status).toBe("APPLICABLE");
  });
});

test("ignored rules pass and return no guards", () => {
  const rules = [
    buildRule(
      "val_1",
      { 1: { name: "redemption.count.per_customer", conditions: { $is: [7] } } },
      { bundleRules: { 1: { name: "order.items.any", conditions: { $is: ["prod_1"] } } } },
    ),
  ];
  const redeemables = [voucherRedeemable(buildVoucher({ rules }))];
  const ignored = { rules: new Set(["redemption.count.per_customer"] as const), bundles: true };
  expect(evaluateRedeemables({ redeemables, ignored: ignored, explain: true })).toMatchObject([
    { status: "APPLICABLE", bundle: { quantity: 0n, missing: [{ id: "prod_1" }] } },
  ]);
  expect(countGuardsIn({ redeemables, ignored: ignored })).toEqual([]);
  expect(evaluateRedeemables({ redeemables, customer: buildCustomer() })[0]?.status).toBe(
    "INAPPLICABLE",
  );
});

describe("a count", () => {
  const campaign = buildCampaign({ id: "camp_1" });
  const customer = buildCustomer({ id: "cust_1" });
  const base = { customerId: null, channelId: null, since: null, productId: null };
  const ofCampaign = { ...base, scope: { kind: "campaign", id: "camp_1" } } as const;
  const ofVoucher = { ...base, scope: { kind: "voucher", id: "v_CODE" } } as const;
  const day = Date.parse("2026-11-20T23:00:00Z");
  const week = Date.parse("2026-11-15T23:00:00Z");
  const month = Date.parse("2026-10-31T23:00:00Z");
  const redemptions = { measure: "REDEMPTIONS" } as const;
  const own = { customerId: "cust_1" };

  test.each([
    ["campaign.redemptions.count", { ...ofCampaign, ...redemptions }, 1n],
    ["campaign.redemptions.count.daily", { ...ofCampaign, ...redemptions, since: day }, 1n],
    ["campaign.redemptions.count.weekly", { ...ofCampaign, ...redemptions, since: week }, 1n],
    ["campaign.redemptions.count.monthly", { ...ofCampaign, ...redemptions, since: month }, 1n],
    ["campaign.redemptions.customers_count", { ...ofCampaign, ...redemptions, ...own }, 1n],
    [
      "campaign.redemptions.customers_count.monthly",
      { ...ofCampaign, ...redemptions, ...own, since: month },
      1n,
    ],
    ["campaign.orders.amount", { ...ofCampaign, measure: "ORDERS_AMOUNT" }, 10_000n],
    ["campaign.orders.amount_discounted", { ...ofCampaign, measure: "DISCOUNTED_AMOUNT" }, 300n],
    ["redemption.gift.amount", { ...ofCampaign, measure: "GIFT_CREDITS" }, 300n],
    ["redemption.count.daily", { ...ofVoucher, ...redemptions, since: day }, 1n],
    ["redemption.count.weekly", { ...ofVoucher, ...redemptions, since: week }, 1n],
    ["redemption.count.monthly", { ...ofVoucher, ...redemptions, since: month }, 1n],
    ["redemption.count.per_customer", { ...ofVoucher, ...redemptions, ...own }, 1n],
    [
      "redemption.count.per_customer.daily",
      { ...ofVoucher, ...redemptions, ...own, since: day },
      1n,
    ],
    ["redemption.count.per_api_key", { ...ofVoucher, ...redemptions, channelId: "app_1" }, 1n],
  ] as const)("%s is loaded, incremented and guarded", (name, count, add) => {
    const conditions = { $less_than_or_equal: [20_000] };
    const voucher = {
      ...buildGiftCard({ balance: 300n }),
      campaign,
      rules: [buildSingleRule(name, conditions)],
    };
    const request = {
      redeemables: [voucherRedeemable(voucher)],
      customer,
      order: buildOrder({ amount: 10_000n }),
    };
    expect(countsToLoad(request.redeemables, buildRequest(request))).toEqual([count]);

    const limit = (before: bigint) =>
      evaluateRedeemables({ ...request, counts: new Map([[countKey(count), before]]) });
    expect(limit(20_000n - add)).toMatchObject([{ status: "APPLICABLE" }]);
    expect(limit(20_001n - add)).toMatchObject([
      { status: "INAPPLICABLE", rejection: { key: "redemption_rules_violated" } },
    ]);
    expect(countGuardsIn(request)).toEqual([
      {
        count,
        add,
        conditions,
        rejection: {
          key: "redemption_rules_violated",
          details: "Gift Card cannot be redeemed because of violated validation rules: val_1",
        },
      },
    ]);
  });

  test("of a promotion tier counts the tier's redemptions", () => {
    const rules = [buildSingleRule("redemption.count.per_customer", { $less_than_or_equal: [1] })];
    const request = { redeemables: [tierRedeemable(buildTier({ rules }))], customer };
    const scope = { kind: "promotion_tier", id: "promo_1" };
    expect(countGuardsIn(request)).toMatchObject([{ count: { scope, ...own } }]);
  });

  test("of a customer who is not stored is not loaded, but guarded", () => {
    const rules = [buildSingleRule("redemption.count.per_customer", { $less_than_or_equal: [1] })];
    const request = {
      redeemables: [voucherRedeemable(buildVoucher({ rules }))],
      customer: buildCustomer(),
    };
    expect(countsToLoad(request.redeemables, buildRequest(request))).toEqual([]);
    expect(countGuardsIn(request)).toMatchObject([{ count: { customerId: "unstored" } }]);
  });

  test("of an optional rule is decided again instead of rejected", () => {
    const rules = (logic: string) => [
      buildRule("val_1", {
        1: { name: "redemption.count.per_customer", conditions: { $less_than_or_equal: [1] } },
        2: { name: "order.amount", conditions: { $more_than: [100] } },
        logic,
      }),
    ];
    const guardsOf = (logic: string) =>
      countGuardsIn({
        redeemables: [voucherRedeemable(buildVoucher({ rules: rules(logic) }))],
        customer,
        order: buildOrder({ amount: 1000n }),
      });
    expect(guardsOf("1 OR 2")).toMatchObject([{ rejection: null }]);
    expect(guardsOf("1 AND 2")).toMatchObject([
      { rejection: { key: "redemption_rules_violated" } },
    ]);
    expect(guardsOf("2 OR 1")).toEqual([]);
  });

  test("includes earlier redeemables of the same request", () => {
    const rules = [buildSingleRule("campaign.redemptions.count", { $less_than_or_equal: [2] })];
    const redeemables = ["a", "b", "c"].map((name) =>
      voucherRedeemable(buildVoucher({ code: name, campaign: { ...campaign, rules } })),
    );
    const order = buildOrder({ amount: 10_000n });
    expect(evaluateRedeemables({ redeemables, order }).map(({ status }) => status)).toEqual([
      "APPLICABLE",
      "APPLICABLE",
      "INAPPLICABLE",
    ]);
    expect(countGuardsIn({ redeemables: redeemables.slice(0, 2), order })).toMatchObject([
      { add: 1n },
      { add: 1n },
    ]);
  });

  test("sums over a request equal the sums of its parts", () => {
    const rules = [
      buildSingleRule("campaign.orders.amount_discounted", { $less_than_or_equal: [1500] }),
    ];
    const redeemables = [1000n, 500n, 1n].map((amount, at) =>
      voucherRedeemable(
        buildDiscountVoucher(`c${at}`, amountOff(amount), { campaign: { ...campaign, rules } }),
      ),
    );
    const evaluated = evaluateRedeemables({ redeemables, order: buildOrder({ amount: 10_000n }) });
    expect(evaluated.map(({ status }) => status)).toEqual([
      "APPLICABLE",
      "APPLICABLE",
      "INAPPLICABLE",
    ]);
  });

  test("read by a formula is guarded", () => {
    const discount = buildDiscount({
      type: "AMOUNT",
      amountOff: 1n,
      amountOffFormula: "VOUCHER_REDEEMED_QUANTITY + 1",
    });
    const voucher = buildDiscountVoucher("CODE", discount, { redeemedQuantity: 4n });
    expect(countGuardsIn({ redeemables: [voucherRedeemable(voucher)] })).toEqual([
      {
        count: { ...ofVoucher, ...redemptions },
        add: 0n,
        conditions: { $is: [4] },
        rejection: null,
      },
    ]);
  });
});

test("loads the collections of conditions, bundles and applicable items", () => {
  const item = (id: string) => ({
    name: "order.items.any",
    conditions: { $from: [id], $is: ["prod_1"] },
  });
  const rule = buildRule(
    "val_1",
    { 1: item("pc_1"), 2: item("pc_2") },
    {
      bundleRules: {
        1: {
          name: "order.items.any",
          conditions: { $is: [{ id: "pc_3", object: "products_collection" }] },
        },
      },
    },
  );
  expect(collectionsToLoad([rule, rule])).toEqual(["pc_1", "pc_2", "pc_3"]);
});

const countGuardsIn = (request: Partial<DecisionRequest>): readonly CountGuard[] =>
  evaluateRedeemables(request)
    .filter((evaluated): evaluated is ApplicableRedeemable => evaluated.status === "APPLICABLE")
    .flatMap(({ guards }) => guards);
