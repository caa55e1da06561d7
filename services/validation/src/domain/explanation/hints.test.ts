import { countKey } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  NOW,
  buildCampaign,
  buildCustomer,
  buildGiftCard,
  buildLine,
  buildOrder,
  buildRule,
  buildTier,
  buildVoucher,
  evaluateRedeemables,
  buildSingleRule,
  voucherRedeemable,
  evaluateRejected,
  buildRequest,
  tierRedeemable,
  unlimited,
} from "../../../test/builders.ts";
import { countsToLoad } from "../counts/rule-counts.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { Hint } from "../decision/hint.ts";
import type { VoucherSnapshot } from "../input/voucher.ts";

const day = 86_400_000;
const codeWith = (voucher: Partial<VoucherSnapshot>) => [voucherRedeemable(buildVoucher(voucher))];
const ruled = (name: string, conditions: object, more = {}) =>
  codeWith({ rules: [buildSingleRule(name, conditions, more)], campaign: buildCampaign() });
const cart = buildOrder({
  lines: [
    buildLine({ productId: "prod_1", quantity: 2n, prices: { line: 1000n } }),
    buildLine({ productId: "prod_1", quantity: 1n, prices: { line: 1000n } }),
  ],
});

const dated = (conditions: object, date?: string): Partial<DecisionRequest> => ({
  redeemables: ruled("redemption.metadata", conditions, { property: "on" }),
  metadata: date === undefined ? {} : { on: date },
});

type HintScenario = readonly [
  what: string,
  request: Partial<DecisionRequest>,
  hints: readonly Partial<Hint>[],
];

const scenarios: readonly HintScenario[] = [
  [
    "an amount that is too small",
    {
      redeemables: ruled("order.amount", { $more_than_or_equal: [10_000] }),
      order: buildOrder({ amount: 7500n }),
    },
    [
      {
        message: "2500 more",
        name: "order.amount",
        property: null,
        validationRuleId: "val_1",
        difference: 2500n,
        from: null,
        anyOf: [],
      },
    ],
  ],
  [
    "an amount that is too large",
    {
      redeemables: ruled("order.amount", { $less_than_or_equal: [7300] }),
      order: buildOrder({ amount: 7500n }),
    },
    [{ message: "200 less", difference: -200n }],
  ],
  [
    "an amount without an order",
    { redeemables: ruled("order.amount", { $more_than: [99] }) },
    [{ message: "100 more", difference: 100n }],
  ],
  [
    "a date from which too few days have passed",
    dated({ $more_than_ago: [30] }, "2026-11-10"),
    [{ message: "from 2026-12-10T23:00:00.000Z", from: Date.parse("2026-12-10T23:00:00Z") }],
  ],
  [
    "a date that is too far away",
    dated({ $less_than_future: [3] }, "2026-12-01"),
    [{ message: "from 2026-11-28T23:00:00.000Z" }],
  ],
  ["a date from which too many days have passed", dated({ $less_than_ago: [3] }, "2026-11-10"), []],
  [
    "a date that is too early",
    dated({ $more_than_or_equal: ["2026-12-24"] }, "2026-12-01"),
    [{ message: "a date from 2026-12-23T23:00:00.000Z", from: null }],
  ],
  [
    "a missing date",
    dated({ $after: ["2026-12-01T10:00:00Z"], $before: ["2026-12-24T10:00:00Z"] }),
    [
      {
        message: "a date after 2026-12-01T10:00:00.000Z and a date before 2026-12-24T10:00:00.000Z",
      },
    ],
  ],
  [
    "prices that are all too low",
    { redeemables: ruled("order.items.price_any", { $more_than_or_equal: [2500] }), order: cart },
    [{ message: "1500 more", difference: 1500n }],
  ],
  [
    "too few items",
    { redeemables: ruled("order.items.count", { $more_than: [4] }), order: cart },
    [{ message: "2 more", difference: 2n }],
  ],
  [
    "too few units of one product over all lines",
    {
      redeemables: ruled(
        "order.items.any",
        { $is: ["prod_1"] },
        {
          rules: {
            1: { name: "order.items.aggregated_quantity", conditions: { $more_than: [4] } },
          },
        },
      ),
      order: cart,
    },
    [{ message: "2 more", name: "order.items.any", difference: 2n }],
  ],
  [
    "too few units of one product in a line: of the line with the smallest difference",
    {
      redeemables: ruled(
        "order.items.any",
        { $is: ["prod_1"] },
        { rules: { 1: { name: "order.items.quantity", conditions: { $is: [5] } } } },
      ),
      order: cart,
    },
    [{ message: "3 more", difference: 3n }],
  ],
  [
    "a missing product",
    { redeemables: ruled("order.items.any", { $is: ["prod_7", "sku_8"] }), order: cart },
    [{ message: "one of: prod_7, sku_8", anyOf: ["prod_7", "sku_8"] }],
  ],
  [
    "a segment that the customer is not in",
    {
      redeemables: ruled("customer.segment", { $in: ["seg_1", "seg_2"] }),
      customer: buildCustomer(),
    },
    [{ message: "one of: seg_1, seg_2", name: "customer.segment", anyOf: ["seg_1", "seg_2"] }],
  ],
  [
    "metadata that is too low",
    {
      redeemables: ruled("customer.metadata", { $more_than_or_equal: [18] }, { property: "age" }),
      customer: buildCustomer({ metadata: { age: 17 } }),
    },
    [{ message: "1 more", property: "age", difference: 1n }],
  ],
  [
    "metadata with another value",
    {
      redeemables: ruled("customer.metadata", { $is: ["gold"] }, { property: "plan" }),
      customer: buildCustomer({ metadata: { plan: "tin" } }),
    },
    [{ message: "one of: gold", property: "plan", anyOf: ["gold"] }],
  ],
  [
    "a missing customer",
    { redeemables: ruled("customer.segment", { $is: ["seg_1"] }) },
    [{ message: "with a customer", name: "customer.segment" }],
  ],
  [
    "alternatives, one hint for each",
    {
      redeemables: codeWith({
        rules: [
          buildRule("val_1", {
            1: { name: "order.amount", conditions: { $more_than: [4000] } },
            2: { name: "order.items.count", conditions: { $is: [10] } },
            logic: "1 OR 2",
          }),
        ],
      }),
      order: cart,
    },
    [
      { name: "order.amount", message: "1001 more" },
      { name: "order.items.count", message: "7 more" },
    ],
  ],
  [
    "all conditions that must change, without those that an alternative satisfies",
    {
      redeemables: codeWith({
        rules: [
          buildRule("val_1", {
            1: { name: "order.amount", conditions: { $more_than: [4000] } },
            2: { name: "customer.segment", conditions: { $is: ["seg_1"] } },
            3: { name: "order.items.count", conditions: { $is: [3] } },
            4: { name: "order.items.count", conditions: { $is: [10] } },
            logic: "1 AND (2 OR 3) AND 4 AND 1",
          }),
        ],
      }),
      order: cart,
    },
    [
      { name: "order.amount", message: "1001 more" },
      { name: "order.items.count", message: "7 more" },
    ],
  ],
  [
    "an amount that is too small before and after the effect",
    {
      redeemables: codeWith({
        rules: [
          buildRule("val_1", {
            1: { name: "order.total_amount", conditions: { $more_than: [4000] } },
            2: { name: "order.items.count", conditions: { $is: [10] } },
            logic: "1 OR 2",
          }),
        ],
      }),
      order: cart,
    },
    [
      { name: "order.total_amount", message: "1301 more" },
      { name: "order.items.count", message: "7 more" },
    ],
  ],
  [
    "a budget that this order would exceed",
    { redeemables: ruled("campaign.orders.amount", { $less_than_or_equal: [2500] }), order: cart },
    [{ message: "500 less", difference: -500n }],
  ],
  [
    "a count that no change can satisfy",
    { redeemables: ruled("campaign.redemptions.count", { $less_than: [1] }) },
    [],
  ],
  [
    "a start date",
    { redeemables: codeWith({ validity: { ...unlimited, startDate: NOW + day } }) },
    [{ message: "from 2026-11-22T11:00:00.000Z", name: "dates", from: NOW + day }],
  ],
  [
    "the start date of a campaign",
    {
      redeemables: codeWith({
        campaign: buildCampaign({
          validity: { ...unlimited, startDate: Date.parse("2026-12-01") },
        }),
      }),
    },
    [{ message: "from 2026-12-01T00:00:00.000Z" }],
  ],
  [
    "a weekday",
    { redeemables: [tierRedeemable(buildTier({ validity: { ...unlimited, daysOfWeek: [1] } }))] },
    [{ message: "from 2026-11-22T23:00:00.000Z" }],
  ],
  [
    "a weekday after the expiration of the campaign",
    {
      redeemables: [
        tierRedeemable(
          buildTier({
            validity: { ...unlimited, daysOfWeek: [1], expirationDate: NOW + 9 * day },
            campaign: buildCampaign({ validity: { ...unlimited, expirationDate: NOW + day } }),
          }),
        ),
      ],
    },
    [],
  ],
  [
    "an expiration date",
    { redeemables: codeWith({ validity: { ...unlimited, expirationDate: NOW - 1 } }) },
    [],
  ],
  [
    "credits",
    {
      redeemables: [
        voucherRedeemable(buildGiftCard({ balance: 500n, lockedCredits: 100n }), { credits: 700n }),
      ],
    },
    [{ message: "300 less", name: "balance", difference: -300n }],
  ],
  [
    "a bundle",
    {
      redeemables: codeWith({
        rules: [
          buildRule(
            "val_b",
            {},
            {
              bundleRules: {
                1: {
                  name: "order.items.any",
                  conditions: { $is: ["prod_1"] },
                  rules: {
                    1: { name: "order.items.aggregated_quantity", conditions: { $is: [5] } },
                  },
                },
              },
            },
          ),
        ],
      }),
      order: cart,
    },
    [{ message: "2 more of prod_1", name: "bundle", difference: 2n, anyOf: ["prod_1"] }],
  ],
  [
    "a referral code without a customer",
    { redeemables: codeWith({ isReferralCode: true, holderId: "cust_1" }) },
    [{ message: "with a customer", name: "customer" }],
  ],
];

describe("hints for", () => {
  test.each(scenarios)("%s", (_what, request, hints) => {
    const found = evaluateRejected({ ...request, explain: true }).hints;
    expect(found).toMatchObject(hints);
    expect(found).toHaveLength(hints.length);
    expect(evaluateRejected(request).hints).toEqual([]);
  });

  test.each([
    ["daily", "2026-11-21T23:00:00.000Z"],
    ["weekly", "2026-11-22T23:00:00.000Z"],
    ["monthly", "2026-11-30T23:00:00.000Z"],
  ])("a count that restarts, %s", (period, from) => {
    const request = {
      redeemables: ruled(`redemption.count.per_customer.${period}`, { $less_than_or_equal: [2] }),
      customer: buildCustomer({ id: "cust_1" }),
      explain: true,
    };
    const names = countsToLoad(request.redeemables, buildRequest(request));
    const counts = new Map(names.map((name) => [countKey(name), 2n]));
    expect(evaluateRejected({ ...request, counts }).hints).toMatchObject([
      { message: `from ${from}` },
    ]);
  });

  test("an amount that is sufficient, while one less is not", () => {
    const operator = fc.constantFrom(
      "$more_than",
      "$more_than_or_equal",
      "$less_than",
      "$less_than_or_equal",
      "$is",
    );
    fc.assert(
      fc.property(operator, fc.nat(50_000), fc.bigInt(0n, 50_000n), (name, operand, amount) => {
        const redeemables = ruled("order.amount", { [name]: [operand] });
        const statusAt = (at: bigint) =>
          evaluateRedeemables({ redeemables, order: buildOrder({ amount: at }) })[0]?.status;
        fc.pre(statusAt(amount) === "INAPPLICABLE");
        const order = buildOrder({ amount });
        const [hint] = evaluateRejected({ redeemables, order, explain: true }).hints;
        if (hint === undefined) {
          expect([name, operand]).toEqual(["$less_than", 0]);
          return;
        }
        const difference = hint.difference ?? 0n;
        expect(statusAt(amount + difference)).toBe("APPLICABLE");
        const oneLess = difference > 0n ? difference - 1n : difference + 1n;
        expect(statusAt(amount + oneLess)).toBe("INAPPLICABLE");
      }),
    );
  });

  test("a date from which it is valid, and not a millisecond before", () => {
    const anyValidity = fc.record({
      startDate: fc.option(fc.integer({ min: -5, max: 5 }).map((days) => NOW + days * day)),
      daysOfWeek: fc.option(fc.array(fc.nat(6), { minLength: 1, maxLength: 3 })),
    });
    fc.assert(
      fc.property(anyValidity, (limits) => {
        const redeemables = codeWith({ validity: { ...unlimited, ...limits } });
        const statusAt = (now: number) =>
          evaluateRedeemables({ redeemables, time: { now, timeZone: "Europe/Warsaw" } })[0]?.status;
        fc.pre(statusAt(NOW) === "INAPPLICABLE");
        const from = evaluateRejected({ redeemables, explain: true }).hints[0]?.from ?? 0;
        expect([statusAt(from - 1), statusAt(from)]).toEqual(["INAPPLICABLE", "APPLICABLE"]);
      }),
    );
  });
});
