import type { ExpirationRules } from "@scrip/rules";

/** The rules as they are sent. */
export function expirationRulesToJson(rules: ExpirationRules): Record<string, number | string> {
  if (rules.type === "FIXED_DAY_OF_YEAR") {
    return { period_type: rules.type, fixed_month: rules.month, fixed_day: rules.day };
  }
  const { rounding } = rules;
  return {
    period_type: rules.type,
    period_value: rules.months,
    ...(rounding !== null && { rounding_type: rounding.type }),
    ...(rounding?.type === "PARTICULAR_MONTH" && { rounding_value: rounding.month }),
  };
}
