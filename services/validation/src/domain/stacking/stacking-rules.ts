import type { CategorySnapshot } from "../input/voucher.ts";

/** How several redeemables of one request go together; spec/validation-and-redemption.md §5.1. */
export type StackingRules = {
  readonly redeemablesLimit: number;
  readonly applicableRedeemablesLimit: number;
  readonly applicableRedeemablesPerCategoryLimit: number;
  /** By category id; replaces the limit above for that category. */
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

/** What a percentage is taken of: the order as earlier redeemables left it, or as it was sent. */
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

/** What a project has set; everything else has its default. */
export type StackingOptions = Partial<StackingRules>;

/**
 * The rules that options amount to. A default gives way to a smaller limit of requests; only who sets
 * both contradicts himself (`stackingContradiction`).
 */
export function resolveStackingRules(options: StackingOptions): StackingRules {
  const rules = { ...DEFAULT_STACKING_RULES, ...options };
  const applicableRedeemablesLimit =
    options.applicableRedeemablesLimit ??
    Math.min(DEFAULT_STACKING_RULES.applicableRedeemablesLimit, rules.redeemablesLimit);
  return { ...rules, applicableRedeemablesLimit };
}

/** What is wrong with options that are within their bounds one by one. */
export function stackingContradiction(options: StackingOptions): string | null {
  const { redeemablesLimit, applicableRedeemablesLimit } = resolveStackingRules(options);
  return applicableRedeemablesLimit > redeemablesLimit
    ? `Property .applicable_redeemables_limit must be <= ${redeemablesLimit}, the redeemables_limit`
    : null;
}

/** Every category that options name, each once. */
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

/** The options without categories that are gone; undefined when they name none of them. */
export function withoutCategories(
  options: StackingOptions,
  gone: ReadonlySet<string>,
): StackingOptions | undefined {
  if (!referencedCategories(options).some((id) => gone.has(id))) return undefined;
  const kept = Object.entries(options).map(([option, value]) => {
    if (Array.isArray(value)) return [option, value.filter((id) => !gone.has(id))];
    if (typeof value !== "object") return [option, value];
    return [option, Object.fromEntries(Object.entries(value).filter(([id]) => !gone.has(id)))];
  });
  return Object.fromEntries(kept) as StackingOptions;
}

export type CategoryKind = "JOINT" | "EXCLUSIVE" | "COMMON";

/** What `categories[].stacking_rules_type` shows. A category listed as both counts as joint. */
export function categoryKind(categoryId: string, rules: StackingRules): CategoryKind {
  if (rules.jointCategories.includes(categoryId)) return "JOINT";
  return rules.exclusiveCategories.includes(categoryId) ? "EXCLUSIVE" : "COMMON";
}

/** The strongest kind among the categories of a redeemable; without any it is common. */
export function strongestKind(
  categories: readonly CategorySnapshot[],
  rules: StackingRules,
): CategoryKind {
  let strongest: CategoryKind = "COMMON";
  for (const { id } of categories) {
    const kind = categoryKind(id, rules);
    if (kind === "JOINT") return kind;
    if (kind === "EXCLUSIVE") strongest = kind;
  }
  return strongest;
}

export function calculationMode(
  categories: readonly CategorySnapshot[],
  rules: StackingRules,
): CalculationMode {
  if (isAnyListed(categories, rules.initialAmountModeCategories)) return "INITIAL_AMOUNT";
  if (isAnyListed(categories, rules.discountedAmountModeCategories)) return "DISCOUNTED_AMOUNT";
  return rules.discountCalculationMode;
}

/** Settings of a category win over the project's, and skipping wins over redeeming anyway. */
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
