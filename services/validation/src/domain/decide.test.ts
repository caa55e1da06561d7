import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkRedeemables, decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import type { OrderFacts, Redeemable, VoucherFacts } from "./facts.ts";
import {
  amountOff,
  givenDiscount,
  givenDiscountVoucher,
  givenGiftCard,
  givenLines,
  givenOrder,
  percentOff,
  redeemableOf,
} from "./given.ts";
import { DEFAULT_STACKING_RULES, type StackingRules } from "./stacking-rules.ts";

const moment = { now: Date.parse("2026-11-21T12:00:00Z"), timeZone: "UTC" };

const coupon = (code: string, off: bigint, categories: readonly string[] = []): VoucherFacts =>
  givenDiscountVoucher(code, amountOff(off), {
    quantity: 10n,
    categories: categories.map((id) => ({ id, hierarchy: Number(id.slice(-1)) })),
  });

const broken = (code: string, categories: readonly string[] = []): VoucherFacts => ({
  ...coupon(code, 1n, categories),
  active: false,
});

type Scenario = readonly [
  what: string,
  stacking: Partial<StackingRules>,
  vouchers: readonly VoucherFacts[],
  expected: { readonly valid: boolean; readonly outcomes: readonly string[] },
];

const a = coupon("a", 100n);
const b = coupon("b", 200n);
const c = coupon("c", 300n);
const partial = { redeemablesApplicationMode: "PARTIAL" } as const;
const exclusive = { exclusiveCategories: ["cat_1", "cat_2"], jointCategories: ["cat_9"] };
const x1 = coupon("x1", 100n, ["cat_1"]);
const x1b = coupon("x1b", 100n, ["cat_1"]);
const x2 = coupon("x2", 100n, ["cat_2"]);
const joint = coupon("joint", 100n, ["cat_9"]);
const skip = { redeemablesNoEffectRule: "SKIP" } as const;

const scenarios = [
  [
    "applies all in the order of the request",
    {},
    [a, b, c],
    { valid: true, outcomes: ["a +", "b +", "c +"] },
  ],
  [
    "skips what follows a failure",
    {},
    [a, broken("no"), b],
    { valid: false, outcomes: ["a +", "no voucher_disabled", "b preceding_validation_failed"] },
  ],
  [
    "goes on after a failure in mode PARTIAL",
    partial,
    [a, broken("no"), b],
    { valid: true, outcomes: ["a +", "no voucher_disabled", "b +"] },
  ],
  [
    "is not valid in mode PARTIAL when nothing applies",
    partial,
    [broken("no")],
    { valid: false, outcomes: ["no voucher_disabled"] },
  ],
  [
    "applies no more than the limit",
    { applicableRedeemablesLimit: 2 },
    [a, b, c],
    { valid: true, outcomes: ["a +", "b +", "c applicable_redeemables_limit_exceeded"] },
  ],
  [
    "applies five by default",
    {},
    [a, b, c, coupon("d", 1n), coupon("e", 1n), coupon("f", 1n)],
    {
      valid: true,
      outcomes: ["a +", "b +", "c +", "d +", "e +", "f applicable_redeemables_limit_exceeded"],
    },
  ],
  [
    "does not evaluate above the limit",
    { applicableRedeemablesLimit: 1 },
    [a, broken("no")],
    { valid: true, outcomes: ["a +", "no applicable_redeemables_limit_exceeded"] },
  ],
  [
    "does not count what failed",
    { ...partial, applicableRedeemablesLimit: 1 },
    [broken("no"), a, b],
    {
      valid: true,
      outcomes: ["no voucher_disabled", "a +", "b applicable_redeemables_limit_exceeded"],
    },
  ],
  [
    "limits a category",
    { applicableRedeemablesPerCategoryLimit: 1 },
    [x1, x1b, x2, a],
    {
      valid: true,
      outcomes: ["x1 +", "x1b applicable_redeemables_per_category_limit_exceeded", "x2 +", "a +"],
    },
  ],
  [
    "limits a category by a limit of its own",
    { applicableRedeemablesPerCategoryLimit: 1, applicableRedeemablesCategoryLimits: { cat_1: 2 } },
    [x1, x1b, x2],
    { valid: true, outcomes: ["x1 +", "x1b +", "x2 +"] },
  ],
  [
    "an exclusive one shuts out common ones wherever they stand",
    exclusive,
    [a, x1, b],
    { valid: true, outcomes: ["a exclusion_rules_not_met", "x1 +", "b exclusion_rules_not_met"] },
  ],
  [
    "an exclusive one that fails shuts out nobody",
    { ...exclusive, ...partial },
    [a, broken("x1", ["cat_1"])],
    { valid: true, outcomes: ["a +", "x1 voucher_disabled"] },
  ],
  [
    "joint ones go with an exclusive one, and last",
    exclusive,
    [joint, x1],
    { valid: true, outcomes: ["x1 +", "joint +"] },
  ],
  [
    "joint ones keep their place without an exclusive one",
    exclusive,
    [joint, a],
    { valid: true, outcomes: ["joint +", "a +"] },
  ],
  [
    "joint ones keep their place by the other setting",
    { ...exclusive, groupedRedeemablesSortingRule: "SORTING_RULE_ORDER" },
    [joint, x1],
    { valid: true, outcomes: ["joint +", "x1 +"] },
  ],
  [
    "a category that is both counts as joint",
    { exclusiveCategories: ["cat_1"], jointCategories: ["cat_1"] },
    [a, x1],
    { valid: true, outcomes: ["a +", "x1 +"] },
  ],
  [
    "applies one exclusive by default",
    exclusive,
    [x1, x2],
    { valid: true, outcomes: ["x1 +", "x2 applicable_exclusive_redeemables_limit_exceeded"] },
  ],
  [
    "applies more exclusive ones when allowed",
    { ...exclusive, applicableExclusiveRedeemablesLimit: 2 },
    [x1, x2],
    { valid: true, outcomes: ["x1 +", "x2 +"] },
  ],
  [
    "limits exclusive ones of a category",
    { ...exclusive, applicableExclusiveRedeemablesLimit: 3 },
    [x1, x1b, x2],
    {
      valid: true,
      outcomes: [
        "x1 +",
        "x1b applicable_exclusive_redeemables_per_category_limit_exceeded",
        "x2 +",
      ],
    },
  ],
  [
    "sorts by the hierarchy of categories, those without one last",
    { redeemablesSortingRule: "CATEGORY_HIERARCHY" },
    [a, x2, x1b, x1],
    { valid: true, outcomes: ["x1b +", "x1 +", "x2 +", "a +"] },
  ],
  [
    "redeems without effect by default",
    {},
    [coupon("zero", 0n)],
    { valid: true, outcomes: ["zero +"] },
  ],
  [
    "skips what has no effect when told to",
    skip,
    [a, coupon("zero", 0n)],
    { valid: true, outcomes: ["a +", "zero no_effect"] },
  ],
  [
    "is not valid when all was skipped",
    skip,
    [coupon("zero", 0n)],
    { valid: false, outcomes: ["zero no_effect"] },
  ],
  [
    "skips a category without effect",
    { noEffectSkipCategories: ["cat_1"], noEffectRedeemAnywayCategories: ["cat_1"] },
    [a, coupon("zero", 0n, ["cat_1"])],
    { valid: true, outcomes: ["a +", "zero no_effect"] },
  ],
  [
    "redeems a category without effect anyway",
    { ...skip, noEffectRedeemAnywayCategories: ["cat_1"] },
    [coupon("zero", 0n, ["cat_1"])],
    { valid: true, outcomes: ["zero +"] },
  ],
] as const satisfies Scenario[];

describe("a stack of vouchers", () => {
  test.each(scenarios)("%s", (_what, stacking, vouchers, expected) => {
    const decision = decided(vouchers, { amount: 10_000n }, stacking);
    expect({ valid: decision.valid, outcomes: outcomesOf(decision) }).toEqual(expected);
  });

  test("tells why it skips", () => {
    const decision = decided([a, broken("no"), b], { amount: 10_000n });
    expect(decision.redeemables[2]).toMatchObject({
      status: "SKIPPED",
      skip: {
        key: "preceding_validation_failed",
        message: "Redeemable cannot be applied due to preceding validation failure",
      },
    });
  });

  test("keeps the position in the request of what it sorts", () => {
    const decision = decided(
      [a, x2],
      { amount: 10_000n },
      { redeemablesSortingRule: "CATEGORY_HIERARCHY" },
    );
    expect(decision.redeemables.map((judged) => judged.position)).toEqual([1, 0]);
  });

  test("adds up over the order, and shows each one its own share", () => {
    const decision = decided([a, givenDiscountVoucher("p", percentOff("10"))], { amount: 10_000n });
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

  test("keeps figures before a failure, but no order and no guards as a whole", () => {
    const decision = decided([a, broken("no")], { amount: 10_000n });
    expect(decision.redeemables[0]).toMatchObject({ order: { totalAmount: 9900n } });
    expect(decision).toMatchObject({ order: null, guards: [] });
  });

  test("relies on what each of its vouchers relies on", () => {
    const { guards } = decided([a, givenGiftCard({ balance: 50n })], { amount: 10_000n });
    expect(guards).toEqual([
      { kind: "definition_version", voucherId: "v_a", definitionVersion: 1n },
      { kind: "quantity_left", voucherId: "v_a" },
      { kind: "definition_version", voucherId: "v_CODE", definitionVersion: 1n },
      { kind: "gift_balance", voucherId: "v_CODE", credits: 50n },
    ]);
  });

  test("has no figures without an order", () => {
    const decision = decided([a], null);
    expect(decision).toMatchObject({ valid: true, order: null, redeemables: [{ order: null }] });
  });

  test.each([
    ["STACK", [1900n, 1900n]],
    ["ONCE", [1000n, 1000n]],
  ] as const)(
    "in mode %s, meets lines that were discounted before accordingly",
    (mode, expected) => {
      const half = givenDiscount({ type: "PERCENT", percentOff: "50", effect: "APPLY_TO_ITEMS" });
      const most = givenDiscount({ type: "PERCENT", percentOff: "90", effect: "APPLY_TO_ITEMS" });
      const vouchers = [givenDiscountVoucher("half", half), givenDiscountVoucher("most", most)];
      const lines = givenLines([1n, 2000n], [2n, 1000n]);
      const decision = decided(vouchers, { lines }, { redeemablesProductsApplicationMode: mode });
      expect(decision.order?.lines.map((line) => line.discountAmount)).toEqual(expected);
    },
  );

  test("takes percentages of the initial amount for a category that says so", () => {
    const vouchers = [
      givenDiscountVoucher("ten", percentOff("10")),
      givenDiscountVoucher("twenty", percentOff("20"), {
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

  test("never takes more than there is, and always adds up", () => {
    const anyVoucher = fc.oneof(
      fc.bigInt(0n, 5000n).map((off) => givenDiscountVoucher("", amountOff(off))),
      fc.integer({ min: 0, max: 100 }).map((p) => givenDiscountVoucher("", percentOff(`${p}`))),
      fc.bigInt(0n, 5000n).map((balance) => givenGiftCard({ balance })),
      fc.constant(broken("")),
    );
    fc.assert(
      fc.property(
        fc.array(anyVoucher, { minLength: 1, maxLength: 8 }),
        fc.bigInt(0n, 10_000n),
        fc.constantFrom("ALL" as const, "PARTIAL" as const),
        (vouchers, amount, redeemablesApplicationMode) => {
          const named = vouchers.map((voucher, n) => ({ ...voucher, id: `v_${n}`, code: `${n}` }));
          const decision = decided(named, { amount }, { redeemablesApplicationMode });
          const applied = decision.redeemables.flatMap((judged) =>
            judged.status === "APPLICABLE" ? [judged.order?.totalAppliedDiscountAmount ?? 0n] : [],
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

describe("a malformed request", () => {
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
      "Property .redeemables should NOT have more than 30 items",
    ],
    [
      "one code twice",
      [...codes(2), ...codes(1)],
      "duplicated_redeemables",
      "Duplicated redeemables detected in one redemption",
    ],
    [
      "one voucher under two names",
      [redeemableOf(a), { ...redeemableOf(a), id: "v_a" }],
      "duplicated_redeemables",
      "Duplicated redeemables detected in one redemption",
    ],
  ])("with %s is refused as a whole", (_what, redeemables, key, details) => {
    const request = { redeemables, order: null, moment, stacking: DEFAULT_STACKING_RULES };
    expect(decide(request)).toEqual({ kind: "malformed", refusal: { key, details } });
  });

  test("with an impossible order is refused as a whole", () => {
    const order = givenOrder({ amount: -1n });
    const request = { redeemables: codes(1), order, moment, stacking: DEFAULT_STACKING_RULES };
    expect(decide(request)).toMatchObject({ kind: "malformed", refusal: { key: "invalid_order" } });
  });

  test("can be told before anything is gathered", () => {
    const redeemables = [{ object: "voucher", id: "a" } as const];
    expect(checkRedeemables(redeemables, DEFAULT_STACKING_RULES)).toBeNull();
    expect(
      checkRedeemables([...redeemables, ...redeemables], DEFAULT_STACKING_RULES),
    ).toMatchObject({
      key: "duplicated_redeemables",
    });
  });
});

function codes(count: number): Redeemable[] {
  return Array.from({ length: count }, (_, n) => redeemableOf(coupon(`c${n}`, 1n)));
}

function decided(
  vouchers: readonly VoucherFacts[],
  order: Partial<OrderFacts> | null,
  stacking: Partial<StackingRules> = {},
): Extract<Decision, { kind: "decided" }> {
  const decision = decide({
    redeemables: vouchers.map((voucher) => redeemableOf(voucher)),
    order: order === null ? null : givenOrder(order),
    moment,
    stacking: { ...DEFAULT_STACKING_RULES, ...stacking },
  });
  if (decision.kind !== "decided") throw new Error(decision.refusal.key);
  return decision;
}

const outcomesOf = (decision: Extract<Decision, { kind: "decided" }>): string[] =>
  decision.redeemables.map((judged) => {
    switch (judged.status) {
      case "APPLICABLE":
        return `${judged.redeemable.id} +`;
      case "INAPPLICABLE":
        return `${judged.redeemable.id} ${judged.refusal.key}`;
      case "SKIPPED":
        return `${judged.redeemable.id} ${judged.skip.key}`;
      default:
        return judged satisfies never;
    }
  });
