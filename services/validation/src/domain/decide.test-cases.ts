import { amountOff, buildDiscountVoucher, buildGiftCard } from "../../test/builders.ts";
import type { VoucherSnapshot } from "./input/voucher.ts";
import type { StackingRules } from "./stacking/stacking-rules.ts";

/** Vouchers that take some cents off and can be used ten times. */
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

/** Outcomes are the code and `+`, or the key of the rejection or of the reason to skip. */
type Scenario = readonly [
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

export const scenarios = [
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
    "limits exclusive ones that share one of their categories",
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
    "skips an empty gift card without effect when told to",
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
