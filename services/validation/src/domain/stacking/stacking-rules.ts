import type { CategorySnapshot } from "../input/voucher.ts";

/** How several redeemables of one request are combined. docs/stacking.md#settings */
export type StackingRules = {
  readonly redeemablesLimit: number;
  readonly applicableRedeemablesLimit: number;
  readonly applicableRedeemablesPerCategoryLimit: number;
  /** By category id; overrides the limit above for that category. */
  readonly applicableRedeemablesCategoryLimits: Readonly<Record<string, number>>;
  readonly applicableExclusiveRedeemablesLimit: number;
  readonly applicableExclusiveRedeemablesPerCategoryLimit: number;
  readonly exclusiveCategories: readonly string[];
  readonly jointCategories: readonly string[];
  readonly redeemablesApplicationMode: "ALL" | "PARTIAL";
  readonly redeemablesSortingRule: "REQUESTED_ORDER" | "CATEGORY_HIERARCHY";
  readonly redeemablesProductsApplicationMode: "STACK" | "ONCE";
  readonly redeemablesNoEffectRule: "REDEEM_ANYWAY" | "SKIP";
  readonly noEffectSkipCategories: readonly string[];
  readonly noEffectRedeemAnywayCategories: readonly string[];
  readonly redeemablesRollbackOrderMode: "WITH_ORDER" | "WITHOUT_ORDER";
  readonly groupedRedeemablesSortingRule: "JOINT_ALWAYS_LAST" | "SORTING_RULE_ORDER";
  readonly discountCalculationMode: CalculationMode;
  readonly initialAmountModeCategories: readonly string[];
  readonly discountedAmountModeCategories: readonly string[];
};

/** The base of percentages: the order after earlier redeemables, or the order of the request. */
export type CalculationMode = "DISCOUNTED_AMOUNT" | "INITIAL_AMOUNT";

export const DEFAULT_STACKING_RULES: StackingRules = {
  redeemablesLimit: 30,
  applicableRedeemablesLimit: 5,
  applicableRedeemablesPerCategoryLimit: 5,
  applicableRedeemablesCategoryLimits: {},
  applicableExclusiveRedeemablesLimit: 1,
  applicableExclusiveRedeemablesPerCategoryLimit: 1,
  exclusiveCategories: [],
  jointCategories: [],
  redeemablesApplicationMode: "ALL",
  redeemablesSortingRule: "REQUESTED_ORDER",
  redeemablesProductsApplicationMode: "STACK",
  redeemablesNoEffectRule: "REDEEM_ANYWAY",
  noEffectSkipCategories: [],
  noEffectRedeemAnywayCategories: [],
  redeemablesRollbackOrderMode: "WITH_ORDER",
  groupedRedeemablesSortingRule: "JOINT_ALWAYS_LAST",
  discountCalculationMode: "DISCOUNTED_AMOUNT",
  initialAmountModeCategories: [],
  discountedAmountModeCategories: [],
};

/** The settings of a project; the others have their defaults. */
export type StackingOptions = Partial<StackingRules>;

/**
 * Completes the settings with defaults. The default of `applicable_redeemables_limit` is lowered to
 * a smaller `redeemables_limit`; only explicit settings can contradict each other
 * (`stackingContradiction`).
 */
export function resolveStackingRules(options: StackingOptions): StackingRules {
  const rules = { ...DEFAULT_STACKING_RULES, ...options };
  const applicableRedeemablesLimit =
    options.applicableRedeemablesLimit ??
    Math.min(DEFAULT_STACKING_RULES.applicableRedeemablesLimit, rules.redeemablesLimit);
  return { ...rules, applicableRedeemablesLimit };
}

/** An error in the combination of settings that are valid one by one. */
export function stackingContradiction(options: StackingOptions): string | null {
  const { redeemablesLimit, applicableRedeemablesLimit } = resolveStackingRules(options);
  return applicableRedeemablesLimit > redeemablesLimit
    ? `Property .applicable_redeemables_limit must be <= ${redeemablesLimit}, the redeemables_limit`
    : null;
}

/** The distinct ids of all categories in the settings. */
export function referencedCategories(options: StackingOptions): readonly string[] {
  return [
    ...new Set([
      ...Object.keys(options.applicableRedeemablesCategoryLimits ?? {}),
      ...(options.exclusiveCategories ?? []),
      ...(options.jointCategories ?? []),
      ...(options.noEffectSkipCategories ?? []),
      ...(options.noEffectRedeemAnywayCategories ?? []),
      ...(options.initialAmountModeCategories ?? []),
      ...(options.discountedAmountModeCategories ?? []),
    ]),
  ];
}

/** The settings without deleted categories; undefined if they contain none of them. */
export function withoutCategories(
  options: StackingOptions,
  deleted: ReadonlySet<string>,
): StackingOptions | undefined {
  if (!referencedCategories(options).some((id) => deleted.has(id))) return undefined;
  const remaining = Object.entries(options).map(([option, value]) => {
    if (Array.isArray(value)) return [option, value.filter((id) => !deleted.has(id))];
    if (typeof value !== "object") return [option, value];
    return [option, Object.fromEntries(Object.entries(value).filter(([id]) => !deleted.has(id)))];
  });
  return Object.fromEntries(remaining) as StackingOptions;
}

export function calculationMode(
  categories: readonly CategorySnapshot[],
  rules: StackingRules,
): CalculationMode {
  if (isAnyListed(categories, rules.initialAmountModeCategories)) return "INITIAL_AMOUNT";
  if (isAnyListed(categories, rules.discountedAmountModeCategories)) return "DISCOUNTED_AMOUNT";
  return rules.discountCalculationMode;
}

/**
 * Settings of a category override those of the project, and skipping overrides redeeming anyway.
 */
export function skipsWithoutEffect(
  categories: readonly CategorySnapshot[],
  rules: StackingRules,
): boolean {
  if (isAnyListed(categories, rules.noEffectSkipCategories)) return true;
  if (isAnyListed(categories, rules.noEffectRedeemAnywayCategories)) return false;
  return rules.redeemablesNoEffectRule === "SKIP";
}

const isAnyListed = (categories: readonly CategorySnapshot[], ids: readonly string[]): boolean =>
  ids.length > 0 && categories.some((category) => ids.includes(category.id));
