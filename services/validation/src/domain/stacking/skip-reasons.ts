export type SkipKey =
  | "applicable_redeemables_limit_exceeded"
  | "applicable_redeemables_per_category_limit_exceeded"
  | "applicable_exclusive_redeemables_limit_exceeded"
  | "applicable_exclusive_redeemables_per_category_limit_exceeded"
  | "exclusion_rules_not_met"
  | "preceding_validation_failed"
  | "no_effect";

export type SkipReason = { readonly key: SkipKey; readonly message: string };

/** Keys and messages are public. docs/stacking.md#response */
export const skipReason = (key: SkipKey): SkipReason => ({ key, message: MESSAGES[key] });

const MESSAGES: Readonly<Record<SkipKey, string>> = {
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
