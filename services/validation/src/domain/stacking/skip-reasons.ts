import type { SkipReason, SkipKey } from "../decision/decision.ts";

/** The texts beside the keys are public (spec/validation-and-redemption.md §5.2). */
export const skipReason = (key: SkipKey): SkipReason => ({ key, message: messages[key] });

const messages: Readonly<Record<SkipKey, string>> = {
  applicable_redeemables_limit_exceeded: "Applicable redeemables limit exceeded",
  applicable_redeemables_per_category_limit_exceeded:
    "Applicable redeemables limit per category exceeded",
  applicable_exclusive_redeemables_limit_exceeded:
    "Applicable exclusive redeemables limit exceeded",
  applicable_exclusive_redeemables_per_category_limit_exceeded:
    "Applicable exclusive redeemables limit per category exceeded",
  exclusion_rules_not_met: "Redeemable cannot be applied due to exclusion rules",
  preceding_validation_failed: "Redeemable cannot be applied due to preceding validation failure",
  no_effect: "Redeemable cannot be applied due to no effect",
};
