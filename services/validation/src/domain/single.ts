import type { StackingRules } from "./stacking-rules.ts";

/**
 * The rules for a redeemable that is asked for by itself: there is nothing that it could be combined
 * with, so it either applies or does not (spec/validation-and-redemption.md §5.4). What percentages
 * are taken of stays.
 */
export const singleStacking = (rules: StackingRules): StackingRules => ({
  ...rules,
  redeemablesApplicationMode: "ALL",
  applicableRedeemablesCategoryLimits: {},
  redeemablesNoEffectRule: "REDEEM_ANYWAY",
  noEffectSkipCategories: [],
});
