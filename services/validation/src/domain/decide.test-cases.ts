import { amountOff, buildDiscountVoucher, buildGiftCard } from "../../test/builders.ts";
import type { VoucherSnapshot } from "./input/voucher.ts";
import type { StackingRules } from "./stacking/stacking-rules.ts";

/** A voucher with a discount in cents that can be redeemed ten times. */
export const coupon = (
  code: string,
  off: bigint,
  categories: readonly string[] = [],
): VoucherSnapshot =>
  buildDiscountVoucher(code, amountOff(off), {
    quantity: 10n,
    categories: categories.map((id) => ({ id, hierarchy: Number(id.slice(-1)) })),
  });

export const broken = (code: string, categories: readonly string[] = []): VoucherSnapshot => ({
  ...coupon(code, 1n, categories),
  active: false,
});

/** Outcomes are the code and `+`, or the key of the rejection or skip reason. */
type StackingCase = readonly [
  what: string,
  stacking: Partial<StackingRules>,
  vouchers: readonly VoucherSnapshot[],
  expected: { readonly valid: boolean; readonly outcomes: readonly string[] },
];

export const a = coupon("a", 100n);
export const b = coupon("b", 200n);
const c = coupon("c", 300n);
const partial = { redeemablesApplicationMode: "PARTIAL" } as const;
const exclusive = { exclusiveCategories: ["cat_1", "cat_2"], jointCategories: ["cat_9"] };
const x1 = coupon("x1", 100n, ["cat_1"]);
const x1b = coupon("x1b", 100n, ["cat_1"]);
export const x2 = coupon("x2", 100n, ["cat_2"]);
const joint = coupon("joint", 100n, ["cat_9"]);
const skip = { redeemablesNoEffectRule: "SKIP" } as const;

export const stackingCases = [
  [
    "applies all in the order of the request",
    {},
    [a, b, c],
    { valid: true, outcomes: ["a +", "b +", "c +"] },
  ],
  [
    "skips the redeemables after a failure",
    {},
    [a, broken("no"), b],
    { valid: false, outcomes: ["a +", "no voucher_disabled", "b preceding_validation_failed"] },
  ],
  [
    "continues after a failure in mode PARTIAL",
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
    "does not count failed redeemables",
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
    "limits a category by its own limit",
    { applicableRedeemablesPerCategoryLimit: 1, applicableRedeemablesCategoryLimits: { cat_1: 2 } },
    [x1, x1b, x2],
    { valid: true, outcomes: ["x1 +", "x1b +", "x2 +"] },
  ],
  [
    "an exclusive redeemable excludes common ones at any position",
    exclusive,
    [a, x1, b],
    { valid: true, outcomes: ["a exclusion_rules_not_met", "x1 +", "b exclusion_rules_not_met"] },
  ],
  [
    "a failed exclusive redeemable excludes none",
    { ...exclusive, ...partial },
    [a, broken("x1", ["cat_1"])],
    { valid: true, outcomes: ["a +", "x1 voucher_disabled"] },
  ],
  [
    "joint redeemables combine with an exclusive one and come last",
    exclusive,
    [joint, x1],
    { valid: true, outcomes: ["x1 +", "joint +"] },
  ],
  [
    "joint redeemables keep their position without an exclusive one",
    exclusive,
    [joint, a],
    { valid: true, outcomes: ["joint +", "a +"] },
  ],
  [
    "joint redeemables keep their position with SORTING_RULE_ORDER",
    { ...exclusive, groupedRedeemablesSortingRule: "SORTING_RULE_ORDER" },
    [joint, x1],
    { valid: true, outcomes: ["joint +", "x1 +"] },
  ],
  [
    "a category that is exclusive and joint counts as joint",
    { exclusiveCategories: ["cat_1"], jointCategories: ["cat_1"] },
    [a, x1],
    { valid: true, outcomes: ["a +", "x1 +"] },
  ],
  [
    "applies one exclusive redeemable by default",
    exclusive,
    [x1, x2],
    { valid: true, outcomes: ["x1 +", "x2 applicable_exclusive_redeemables_limit_exceeded"] },
  ],
  [
    "applies several exclusive redeemables up to the limit",
    { ...exclusive, applicableExclusiveRedeemablesLimit: 2 },
    [x1, x2],
    { valid: true, outcomes: ["x1 +", "x2 +"] },
  ],
  [
    "limits exclusive redeemables of a category",
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
    "limits exclusive redeemables that share one of their categories",
    { ...exclusive, applicableExclusiveRedeemablesLimit: 3 },
    [x1, coupon("x21", 100n, ["cat_2", "cat_1"])],
    {
      valid: true,
      outcomes: ["x1 +", "x21 applicable_exclusive_redeemables_per_category_limit_exceeded"],
    },
  ],
  [
    "sorts by the lowest hierarchy of several categories",
    { redeemablesSortingRule: "CATEGORY_HIERARCHY" },
    [x1, joint, x2, coupon("x91", 100n, ["cat_9", "cat_1"]), a],
    { valid: true, outcomes: ["x1 +", "x91 +", "x2 +", "joint +", "a +"] },
  ],
  [
    "skips an empty gift card with rule SKIP",
    skip,
    [buildGiftCard({ balance: 0n })],
    { valid: false, outcomes: ["CODE no_effect"] },
  ],
  [
    "skips without effect for one of several categories",
    { noEffectSkipCategories: ["cat_1"] },
    [a, coupon("zero", 0n, ["cat_2", "cat_1"])],
    { valid: true, outcomes: ["a +", "zero no_effect"] },
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
    "skips redeemables without effect with rule SKIP",
    skip,
    [a, coupon("zero", 0n)],
    { valid: true, outcomes: ["a +", "zero no_effect"] },
  ],
  [
    "is not valid if all redeemables are skipped",
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
] as const satisfies StackingCase[];
