import { singleRedeemableStacking } from "../stacking/single-redeemable.ts";
import type { StackingRules } from "../stacking/stacking-rules.ts";
import type { QualificationScenario } from "./qualification-scenario.ts";

/**
 * The stacking rules for one candidate, evaluated alone. Candidates without effect do not qualify
 * in scenarios that evaluate the order. The tiers of a stack are applied together, under the limits
 * of the project. docs/qualification.md#scenarios
 */
export function qualificationStacking(
  rules: StackingRules,
  { rules: evaluatedRules, candidates }: Pick<QualificationScenario, "rules" | "candidates">,
): StackingRules {
  if (evaluatedRules !== "all_but_budgets") return singleRedeemableStacking(rules);
  if (candidates === "promotion_stacks") return { ...rules, redeemablesApplicationMode: "ALL" };
  const { redeemablesNoEffectRule, noEffectSkipCategories } = rules;
  return { ...singleRedeemableStacking(rules), redeemablesNoEffectRule, noEffectSkipCategories };
}
