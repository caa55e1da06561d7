import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  EMPTY_INPUT,
  amountOff,
  buildDiscount,
  buildDiscountVoucher,
  buildGiftCard,
  buildLines,
  buildOrder,
  percentOff,
  voucherRedeemable,
} from "../../test/builders.ts";
import { a, b, broken, coupon, stackingCases, x2 } from "./decide.test-cases.ts";
import { checkRedeemables, decide } from "./decide.ts";
import type { Decision } from "./decision/decision.ts";
import type { OrderSnapshot } from "./input/order.ts";
import type { Redeemable } from "./input/redeemable.ts";
import type { VoucherSnapshot } from "./input/voucher.ts";
import { DEFAULT_STACKING_RULES, type StackingRules } from "./stacking/stacking-rules.ts";

const time = { now: Date.parse("2026-11-21T12:00:00Z"), timeZone: "UTC" };
const context = {
  customer: null,
  metadata: {},
  time,
  stacking: DEFAULT_STACKING_RULES,
  ...EMPTY_INPUT,
};

describe("decide with several redeemables", () => {
  test.each(stackingCases)("%s", (_what, stacking, vouchers, expected) => {
    const decision = decided(vouchers, { amount: 10_000n }, stacking);
    expect({ valid: decision.valid, outcomes: outcomesOf(decision) }).toEqual(expected);
  });

  test("returns the reason of each skipped redeemable", () => {
    const decision = decided([a, broken("no"), b], { amount: 10_000n });
    expect(decision.redeemables[2]).toMatchObject({
      status: "SKIPPED",
      skip: {
        key: "preceding_validation_failed",
        message: "Redeemable cannot be applied due to preceding validation failure",
      },
    });
  });

  test("returns the request position of sorted redeemables", () => {
    const decision = decided(
      [a, x2],
      { amount: 10_000n },
      { redeemablesSortingRule: "CATEGORY_HIERARCHY" },
    );
    expect(decision.redeemables.map((evaluated) => evaluated.position)).toEqual([1, 0]);
  });

  test("sums discounts over the order and returns the share of each redeemable", () => {
    const decision = decided([a, buildDiscountVoucher("p", percentOff("10"))], { amount: 10_000n });
    expect(decision.redeemables).toMatchObject([
      { order: { discountAmount: 100n, appliedDiscountAmount: 100n, totalAmount: 9900n } },
      { order: { discountAmount: 1090n, appliedDiscountAmount: 990n, totalAmount: 8910n } },
    ]);
    expect(decision.order).toMatchObject({
      discountAmount: 1090n,
      appliedDiscountAmount: 1090n,
      totalAmount: 8910n,
    });
  });

  test("keeps the figures before a failure, but returns no order", () => {
    const decision = decided([a, broken("no")], { amount: 10_000n });
    expect(decision.redeemables[0]).toMatchObject({ order: { totalAmount: 9900n } });
    expect(decision).toMatchObject({ valid: false, order: null });
  });

  test("returns no figures without an order", () => {
    const decision = decided([a], null);
    expect(decision).toMatchObject({ valid: true, order: null, redeemables: [{ order: null }] });
  });

  test.each([
    ["STACK", [1900n, 1900n]],
    ["ONCE", [1000n, 1000n]],
  ] as const)(
    "in mode %s, meets lines that were discounted before accordingly",
    (mode, expected) => {
      const half = buildDiscount({ type: "PERCENT", percentOff: "50", effect: "APPLY_TO_ITEMS" });
      const most = buildDiscount({ type: "PERCENT", percentOff: "90", effect: "APPLY_TO_ITEMS" });
      const vouchers = [buildDiscountVoucher("half", half), buildDiscountVoucher("most", most)];
      const lines = buildLines([1n, 2000n], [2n, 1000n]);
      const decision = decided(vouchers, { lines }, { redeemablesProductsApplicationMode: mode });
      expect(decision.order?.lines.map((line) => line.discountAmount)).toEqual(expected);
    },
  );

  test("applies percentages to the initial amount for a category with INITIAL_AMOUNT", () => {
    const vouchers = [
      buildDiscountVoucher("ten", percentOff("10")),
      buildDiscountVoucher("twenty", percentOff("20"), {
        categories: [{ id: "cat_1", hierarchy: 1 }],
      }),
    ];
    const order = { amount: 10_000n };
    const totalWith = (rules: Partial<StackingRules>) =>
      decided(vouchers, order, rules).order?.totalAmount;
    expect(totalWith({})).toBe(7200n);
    expect(totalWith({ initialAmountModeCategories: ["cat_1"] })).toBe(7000n);
    expect(totalWith({ discountCalculationMode: "INITIAL_AMOUNT" })).toBe(7000n);
    expect(
      totalWith({
        discountCalculationMode: "INITIAL_AMOUNT",
        discountedAmountModeCategories: ["cat_1"],
      }),
    ).toBe(7200n);
  });

  test("never discounts more than the order's amount, and its figures add up", () => {
    const anyVoucher = fc.oneof(
      fc.bigInt(0n, 5000n).map((off) => buildDiscountVoucher("", amountOff(off))),
      fc.integer({ min: 0, max: 100 }).map((p) => buildDiscountVoucher("", percentOff(`${p}`))),
      fc.bigInt(0n, 5000n).map((balance) => buildGiftCard({ balance })),
      fc.constant(broken("")),
    );
    fc.assert(
      fc.property(
        fc.array(anyVoucher, { minLength: 1, maxLength: 8 }),
        fc.bigInt(0n, 10_000n),
        fc.constantFrom("ALL" as const, "PARTIAL" as const),
        (vouchers, amount, redeemablesApplicationMode) => {
          const numbered = vouchers.map((voucher, n) => ({
            ...voucher,
            id: `v_${n}`,
            code: `${n}`,
          }));
          const decision = decided(numbered, { amount }, { redeemablesApplicationMode });
          const applied = decision.redeemables.flatMap((evaluated) =>
            evaluated.status === "APPLICABLE"
              ? [evaluated.order?.totalAppliedDiscountAmount ?? 0n]
              : [],
          );
          if (!decision.valid) return;
          const sum = applied.reduce((total, part) => total + part, 0n);
          expect(decision.order?.totalAppliedDiscountAmount).toBe(sum);
          expect(decision.order?.totalAmount).toBe(amount - sum);
          expect(sum <= amount).toBe(true);
        },
      ),
    );
  });
});

describe("decide with an invalid request", () => {
  test.each([
    [
      "no redeemables",
      [],
      "invalid_payload",
      "Property .redeemables should NOT have fewer than 1 items",
    ],
    [
      "too many redeemables",
      codes(31),
      "invalid_payload",
      "Property .redeemables must NOT have more than 30 items",
    ],
    [
      "one code twice",
      [...codes(2), ...codes(1)],
      "duplicated_redeemables",
      "Duplicated redeemables detected in one redemption",
    ],
    [
      "one voucher under two names",
      [voucherRedeemable(a), { ...voucherRedeemable(a), id: "v_a" }],
      "duplicated_redeemables",
      "Duplicated redeemables detected in one redemption",
    ],
  ])("rejects the request as a whole with %s", (_what, redeemables, key, details) => {
    const request = { redeemables, order: null, ...context };
    expect(decide(request)).toEqual({ kind: "malformed", rejection: { key, details } });
  });

  test("rejects the request as a whole with an invalid order", () => {
    const order = buildOrder({ amount: -1n });
    const request = { redeemables: codes(1), order, ...context };
    expect(decide(request)).toMatchObject({
      kind: "malformed",
      rejection: { key: "invalid_order" },
    });
  });

  test("checks the redeemables before anything is loaded", () => {
    const redeemables = [{ object: "voucher", id: "a" } as const];
    expect(checkRedeemables(redeemables, DEFAULT_STACKING_RULES)).toBeNull();
    expect(checkRedeemables(codes(30), DEFAULT_STACKING_RULES)).toBeNull();
    expect(
      checkRedeemables([...redeemables, ...redeemables], DEFAULT_STACKING_RULES),
    ).toMatchObject({
      key: "duplicated_redeemables",
    });
  });
});

function codes(count: number): Redeemable[] {
  return Array.from({ length: count }, (_, n) => voucherRedeemable(coupon(`c${n}`, 1n)));
}

function decided(
  vouchers: readonly VoucherSnapshot[],
  order: Partial<OrderSnapshot> | null,
  stacking: Partial<StackingRules> = {},
): Extract<Decision, { kind: "decided" }> {
  const decision = decide({
    redeemables: vouchers.map((voucher) => voucherRedeemable(voucher)),
    order: order === null ? null : buildOrder(order),
    ...context,
    stacking: { ...DEFAULT_STACKING_RULES, ...stacking },
  });
  if (decision.kind !== "decided") throw new Error(decision.rejection.key);
  return decision;
}

const outcomesOf = (decision: Extract<Decision, { kind: "decided" }>): string[] =>
  decision.redeemables.map((evaluated) => {
    switch (evaluated.status) {
      case "APPLICABLE":
        return `${evaluated.redeemable.id} +`;
      case "INAPPLICABLE":
        return `${evaluated.redeemable.id} ${evaluated.rejection.key}`;
      case "SKIPPED":
        return `${evaluated.redeemable.id} ${evaluated.skip.key}`;
      default:
        return evaluated satisfies never;
    }
  });
