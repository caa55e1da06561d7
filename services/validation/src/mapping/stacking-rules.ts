import type { MessageInitShape } from "@bufbuild/protobuf";
import type { StackingRulesSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { StackingRules } from "../domain/stacking/stacking-rules.ts";

export function stackingRulesToProto(
  rules: StackingRules,
): MessageInitShape<typeof StackingRulesSchema> {
  return {
    redeemablesLimit: BigInt(rules.redeemablesLimit),
    applicableRedeemablesLimit: BigInt(rules.applicableRedeemablesLimit),
    applicableRedeemablesPerCategoryLimit: BigInt(rules.applicableRedeemablesPerCategoryLimit),
    applicableRedeemablesCategoryLimits: Object.fromEntries(
      Object.entries(rules.applicableRedeemablesCategoryLimits).map(([id, limit]) => [
        id,
        BigInt(limit),
      ]),
    ),
    applicableExclusiveRedeemablesLimit: BigInt(rules.applicableExclusiveRedeemablesLimit),
    applicableExclusiveRedeemablesPerCategoryLimit: BigInt(
      rules.applicableExclusiveRedeemablesPerCategoryLimit,
    ),
    exclusiveCategories: [...rules.exclusiveCategories],
    jointCategories: [...rules.jointCategories],
    redeemablesApplicationMode: rules.redeemablesApplicationMode,
    redeemablesSortingRule: rules.redeemablesSortingRule,
    redeemablesProductsApplicationMode: rules.redeemablesProductsApplicationMode,
    redeemablesNoEffectRule: rules.redeemablesNoEffectRule,
    noEffectSkipCategories: [...rules.noEffectSkipCategories],
    noEffectRedeemAnywayCategories: [...rules.noEffectRedeemAnywayCategories],
    redeemablesRollbackOrderMode: rules.redeemablesRollbackOrderMode,
    groupedRedeemablesSortingRule: rules.groupedRedeemablesSortingRule,
    discountCalculationMode: rules.discountCalculationMode,
    initialAmountModeCategories: [...rules.initialAmountModeCategories],
    discountedAmountModeCategories: [...rules.discountedAmountModeCategories],
  };
}
