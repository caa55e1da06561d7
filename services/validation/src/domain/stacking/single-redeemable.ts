import type { QualificationScenario } from "../qualification/qualification-scenario.ts";
import type { StackingRules } from "./stacking-rules.ts";

/**
 * The rules for a redeemable that is asked for by itself: there is nothing that it could be combined
 * with, so it either applies or does not (spec/validation-and-redemption.md §5.4). What percentages
 * are taken of stays.
 */
export const singleRedeemableStacking = (rules: StackingRules): StackingRules => ({
  ...rules,
  redeemablesApplicationMode: "ALL",
  applicableRedeemablesCategoryLimits: {},
  redeemablesNoEffectRule: "REDEEM_ANYWAY",
  noEffectSkipCategories: [],
});

/**
 * The rules for one of the things that a customer might use, alone, where nobody asks for it yet: what
 * would be skipped without effect is, unless the order is not what is asked about. A stack is its tiers
 * together, under the limits of the project (spec/validation-and-redemption.md §6).
 */
export function qualificationStacking(
  rules: StackingRules,
  { rules: asked, candidates }: Pick<QualificationScenario, "rules" | "candidates">,
): StackingRules {
  if (asked !== "all_but_budgets") return singleRedeemableStacking(rules);
  if (candidates === "promotion_stacks") return { ...rules, redeemablesApplicationMode: "ALL" };
  const { redeemablesNoEffectRule, noEffectSkipCategories } = rules;
  return { ...singleRedeemableStacking(rules), redeemablesNoEffectRule, noEffectSkipCategories };
}
