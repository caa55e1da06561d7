import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { DecisionRequest } from "./decide.ts";
import { NOW, givenRule, judgedIn, refusedIn, requestOf } from "./given-rules.ts";
import {
  amountOff,
  givenDiscountVoucher,
  givenLine,
  givenOrder,
  givenVoucher,
  redeemableOf,
  unlimited,
} from "./given.ts";

describe("a trace", () => {
  const rules = [
    givenRule("val_1", {
      1: { name: "order.amount", conditions: { $more_than: [5000] } },
      2: {
        name: "order.items.any",
        conditions: { $is: ["prod_1"] },
        rules: { 1: { name: "order.items.quantity", conditions: { $more_than: [1] } } },
      },
      3: { name: "redemption.count.daily", conditions: { $less_than_or_equal: [5] } },
    }),
  ];
  const voucher = givenVoucher({ quantity: 5n, redeemedQuantity: 1n, lockedQuantity: 1n, rules });
  const lines = [givenLine({ productId: "prod_1", quantity: 3n, prices: { line: 2000n } })];
  const request = {
    redeemables: [redeemableOf(voucher)],
    order: givenOrder({ lines }),
    trace: true,
  };

  test("is not made unless asked for", () => {
    const [judged] = judgedIn({ ...request, trace: false });
    expect(judged?.trace).toBeNull();
  });

  test("tells each step with what it read", () => {
    const [judged] = judgedIn(request);
    expect(judged?.trace).toEqual({
      steps: [
        { kind: "active", passed: true, message: "is switched on" },
        { kind: "dates", passed: true, message: "is open at 2026-11-21T11:00:00.000Z" },
        {
          kind: "quantity",
          passed: true,
          message: "redeemed 1 of 5 times, 1 held by sessions",
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
        { kind: "effect", passed: true, message: "APPLY_TO_ORDER takes 600 off" },
      ],
      allocations: [{ orderItemIndex: null, amount: 600n, quantity: null }],
    });
  });

  test("of a refused redeemable ends where it was refused", () => {
    const last = (refused: Partial<DecisionRequest>) => refusedIn(refused).trace?.steps.at(-1);
    expect(last({ ...request, order: givenOrder({ amount: 100n }) })).toMatchObject({
      passed: false,
      value: 100,
    });
    const validity = { ...unlimited, expirationDate: NOW - 1 };
    const redeemables = [redeemableOf({ ...voucher, validity })];
    expect(last({ ...request, redeemables })).toEqual({
      kind: "dates",
      passed: false,
      message: "is not open at 2026-11-21T11:00:00.000Z: voucher_expired",
    });
  });

  test("tells how redeemables were combined", () => {
    const redeemables = ["a", "b", "c"].map((code) => redeemableOf(givenVoucher({ code })));
    const stacking = { ...requestOf({}).stacking, applicableRedeemablesLimit: 2 };
    const judged = judgedIn({ ...request, redeemables, stacking });
    expect(judged.map(({ trace }) => trace?.steps.at(-1)?.message)).toEqual([
      "COMMON, applies as number 1 of at most 2",
      "COMMON, applies as number 2 of at most 2",
      "Applicable redeemables limit exceeded",
    ]);
  });

  test("allocates every cent", () => {
    const amounts = fc.array(fc.bigInt(0n, 5000n), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(amounts, fc.bigInt(0n, 20_000n), (discounts, amount) => {
        const redeemables = discounts.map((off, at) =>
          redeemableOf(givenDiscountVoucher(`c${at}`, amountOff(off))),
        );
        const judged = judgedIn({ redeemables, order: givenOrder({ amount }), trace: true });
        for (const one of judged) {
          if (one.status !== "APPLICABLE") continue;
          const allocated = one.trace?.allocations.reduce((sum, part) => sum + part.amount, 0n);
          expect(allocated).toBe(one.order?.totalAppliedDiscountAmount);
        }
      }),
    );
  });
});
