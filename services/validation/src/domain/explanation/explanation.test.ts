import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  NOW,
  amountOff,
  buildCampaign,
  buildCustomer,
  buildDiscount,
  buildDiscountVoucher,
  buildGiftCard,
  buildLine,
  buildOrder,
  buildRule,
  buildVoucher,
  evaluateRedeemables,
  voucherRedeemable,
  evaluateRejected,
  buildRequest,
  unlimited,
} from "../../../test/builders.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";

describe("an explanation", () => {
  const rules = [
    buildRule("val_1", {
      1: { name: "order.amount", conditions: { $more_than: [5000] } },
      2: {
        name: "order.items.any",
        conditions: { $is: ["prod_1"] },
        rules: { 1: { name: "order.items.quantity", conditions: { $more_than: [1] } } },
      },
      3: { name: "redemption.count.daily", conditions: { $less_than_or_equal: [5] } },
    }),
  ];
  const voucher = buildVoucher({ quantity: 5n, redeemedQuantity: 1n, lockedQuantity: 1n, rules });
  const lines = [buildLine({ productId: "prod_1", quantity: 3n, prices: { line: 2000n } })];
  const request = {
    redeemables: [voucherRedeemable(voucher)],
    order: buildOrder({ lines }),
    explain: true,
  };

  test("is returned only if requested", () => {
    const [evaluated] = evaluateRedeemables({ ...request, explain: false });
    expect(evaluated?.explanation).toBeNull();
  });

  test("lists each step with the values that it read", () => {
    const [evaluated] = evaluateRedeemables(request);
    expect(evaluated?.explanation).toEqual({
      steps: [
        { kind: "active", passed: true, message: "is active" },
        { kind: "dates", passed: true, message: "is valid at 2026-11-21T11:00:00.000Z" },
        {
          kind: "quantity",
          passed: true,
          message: "redeemed 1 of 5 times, 1 locked by sessions",
          used: 2n,
          limit: 5n,
        },
        {
          kind: "rule",
          passed: true,
          message: "order.amount is 6000, which meets its conditions",
          validationRuleId: "val_1",
          rule: "1",
          name: "order.amount",
          conditions: { $more_than: [5000] },
          value: 6000,
        },
        {
          kind: "rule",
          passed: true,
          message: "order.items.any is [0], which meets its conditions",
          validationRuleId: "val_1",
          rule: "2",
          name: "order.items.any",
          conditions: { $is: ["prod_1"] },
          value: [0],
        },
        {
          kind: "rule",
          passed: true,
          message: "order.items.quantity is [3], which meets its conditions",
          validationRuleId: "val_1",
          rule: "2.1",
          name: "order.items.quantity",
          conditions: { $more_than: [1] },
          value: [3],
        },
        {
          kind: "rule",
          passed: true,
          message: "redemption.count.daily is 1, which meets its conditions",
          validationRuleId: "val_1",
          rule: "3",
          name: "redemption.count.daily",
          conditions: { $less_than_or_equal: [5] },
          value: 1,
          used: 0n,
          limit: 5n,
        },
        { kind: "effect", passed: true, message: "APPLY_TO_ORDER discounts 600" },
      ],
      allocations: [{ orderItemIndex: null, amount: 600n, quantity: null }],
    });
  });

  test("ends with the failed step of a rejected redeemable", () => {
    const last = (rejected: Partial<DecisionRequest>) =>
      evaluateRejected(rejected).explanation?.steps.at(-1);
    expect(last({ ...request, order: buildOrder({ amount: 100n }) })).toMatchObject({
      passed: false,
      value: 100,
    });
    const validity = { ...unlimited, expirationDate: NOW - 1 };
    const redeemables = [voucherRedeemable({ ...voucher, validity })];
    expect(last({ ...request, redeemables })).toEqual({
      kind: "dates",
      passed: false,
      message: "is not valid at 2026-11-21T11:00:00.000Z: voucher_expired",
      operands: { expiration_date: "2026-11-21T10:59:59.999Z", time_zone: "Europe/Warsaw" },
    });
  });

  test("contains the time limits of the voucher and of its campaign", () => {
    const hours = { startTime: "09:00", expirationTime: "17:00", daysOfWeek: [6] };
    const campaign = { ...unlimited, startDate: NOW, hours: { daily: [hours] } };
    const validity = { ...unlimited, daysOfWeek: [6] };
    const inTime = { ...voucher, validity, campaign: buildCampaign({ validity: campaign }) };
    const [evaluated] = evaluateRedeemables({
      ...request,
      redeemables: [voucherRedeemable(inTime)],
    });
    expect(evaluated?.explanation?.steps[1]).toMatchObject({
      kind: "dates",
      passed: true,
      operands: {
        validity_day_of_week: [6],
        campaign_start_date: "2026-11-21T11:00:00.000Z",
        campaign_validity_hours: [
          { start_time: "09:00", expiration_time: "17:00", days_of_week: [6] },
        ],
        time_zone: "Europe/Warsaw",
      },
    });
  });

  test.each([
    {
      formula: 'IF(ORDER_AMOUNT > 50; CUSTOMER_METADATA("age"); ORDER_ITEMS_QUANTITY)',
      step: {
        passed: true,
        message: "the formula returned 20",
        value: 20,
        operands: { ORDER_AMOUNT: 60, 'CUSTOMER_METADATA("age")': 20 },
      },
    },
    {
      formula: 'ORDER_METADATA("none") + ORDER_AMOUNT',
      step: {
        passed: false,
        message:
          "the formula returned no value, so the static one applies: ORDER_METADATA has no value for its key",
        operands: { 'ORDER_METADATA("none")': null, ORDER_AMOUNT: 60 },
      },
    },
  ])("contains the operands of the formula $formula", ({ formula, step }) => {
    const discount = { type: "PERCENT", percentOff: "5", percentOffFormula: formula } as const;
    const formulaVoucher = buildDiscountVoucher("f", buildDiscount(discount));
    const customer = buildCustomer({ metadata: { age: 20 } });
    const [evaluated] = evaluateRedeemables({
      ...request,
      redeemables: [voucherRedeemable(formulaVoucher)],
      customer,
    });
    const [first] = evaluated?.explanation?.steps.filter(({ kind }) => kind === "formula") ?? [];
    expect(first).toEqual({ kind: "formula", ...step });
  });

  test("contains the value of a formula for each discounted line", () => {
    const discount = {
      type: "AMOUNT",
      amountOff: 1n,
      amountOffFormula: "ORDER_ITEM_PRICE / 10",
      effect: "APPLY_TO_ITEMS",
    } as const;
    const formulaVoucher = buildDiscountVoucher("f", buildDiscount(discount));
    const twice = [...lines, buildLine({ productId: "prod_2", prices: { line: 500n } })];
    const order = buildOrder({ lines: twice });
    const [evaluated] = evaluateRedeemables({
      ...request,
      order,
      redeemables: [voucherRedeemable(formulaVoucher)],
    });
    const steps = evaluated?.explanation?.steps.filter(({ kind }) => kind === "formula");
    expect(steps).toMatchObject([
      {
        message: "the formula returned 2 for line 0",
        value: 2,
        operands: { ORDER_ITEM_PRICE: 20 },
      },
      {
        message: "the formula returned 0.5 for line 1",
        value: 0.5,
        operands: { ORDER_ITEM_PRICE: 5 },
      },
    ]);
  });

  test.each(["APPLY_TO_ORDER", "APPLY_TO_ITEMS_PROPORTIONALLY"] as const)(
    "shows that the formula of a discount with effect %s reads no line",
    (effect) => {
      const discount = { type: "AMOUNT", amountOff: 1n, effect } as const;
      const amountOffFormula = "ORDER_ITEM_PRICE / 10";
      const formulaVoucher = buildDiscountVoucher(
        "f",
        buildDiscount({ ...discount, amountOffFormula }),
      );
      const [evaluated] = evaluateRedeemables({
        ...request,
        redeemables: [voucherRedeemable(formulaVoucher)],
      });
      const steps = evaluated?.explanation?.steps.filter(({ kind }) => kind === "formula");
      expect(steps).toEqual([
        {
          kind: "formula",
          passed: false,
          message: expect.stringContaining("so the static one applies: ORDER_ITEM_PRICE"),
          operands: { ORDER_ITEM_PRICE: null },
        },
      ]);
    },
  );

  test("contains the requested and the available credits", () => {
    const redeemables = [
      voucherRedeemable(buildGiftCard({ balance: 700n, lockedCredits: 100n }), { credits: 900n }),
    ];
    expect(evaluateRejected({ ...request, redeemables }).explanation?.steps.at(-1)).toMatchObject({
      kind: "balance",
      passed: false,
      value: 900,
      used: 100n,
      limit: 700n,
    });
  });

  test("contains the stacking steps", () => {
    const redeemables = ["a", "b", "c"].map((code) => voucherRedeemable(buildVoucher({ code })));
    const stacking = { ...buildRequest({}).stacking, applicableRedeemablesLimit: 2 };
    const evaluated = evaluateRedeemables({ ...request, redeemables, stacking });
    expect(evaluated.map(({ explanation }) => explanation?.steps.at(-1)?.message)).toEqual([
      "COMMON, applies as number 1 of at most 2",
      "COMMON, applies as number 2 of at most 2",
      "Applicable redeemables limit exceeded",
    ]);
    expect(evaluated.at(-1)?.explanation?.steps.at(-1)).toMatchObject({ used: 2n, limit: 2n });
  });

  test("allocates every cent of the discount", () => {
    const amounts = fc.array(fc.bigInt(0n, 5000n), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(amounts, fc.bigInt(0n, 20_000n), (discounts, amount) => {
        const redeemables = discounts.map((off, at) =>
          voucherRedeemable(buildDiscountVoucher(`c${at}`, amountOff(off))),
        );
        const evaluated = evaluateRedeemables({
          redeemables,
          order: buildOrder({ amount }),
          explain: true,
        });
        for (const one of evaluated) {
          if (one.status !== "APPLICABLE") continue;
          const allocated = one.explanation?.allocations.reduce(
            (sum, part) => sum + part.amount,
            0n,
          );
          expect(allocated).toBe(one.order?.totalAppliedDiscountAmount);
        }
      }),
    );
  });
});
