import type { StackingRules } from "./stacking-rules.ts";

/**
 * The stacking rules of an endpoint for a single redeemable, which is not combined with others: it
 * either applies or not. The base of percentages is unchanged. docs/stacking.md#single-redeemable
 */
export const singleRedeemableStacking = (rules: StackingRules): StackingRules => ({
  ...rules,
  redeemablesApplicationMode: "ALL",
  applicableRedeemablesCategoryLimits: {},
  redeemablesNoEffectRule: "REDEEM_ANYWAY",
  noEffectSkipCategories: [],
});
