/** How the date of a MONTH rule is moved to the end of a period; `month` counts from 1. */
export type ExpiryRounding =
  | { readonly type: "END_OF_MONTH" | "END_OF_QUARTER" | "END_OF_HALF_YEAR" | "END_OF_YEAR" }
  | { readonly type: "PARTICULAR_MONTH"; readonly month: number };

/** When points expire that are credited on a date (docs/loyalty.md#expiration). */
export type ExpirationRules =
  | {
      readonly type: "MONTH";
      /** Number of months, from 0. */
      readonly months: number;
      readonly rounding: ExpiryRounding | null;
    }
  | { readonly type: "FIXED_DAY_OF_YEAR"; readonly month: number; readonly day: number };

/** Expiration rules, or what is wrong with them, in the words of the API. */
export type ParsedExpirationRules =
  | { readonly rules: ExpirationRules }
  | { readonly violation: string };

const ROUNDINGS = ["END_OF_MONTH", "END_OF_QUARTER", "END_OF_HALF_YEAR", "END_OF_YEAR"] as const;

/** Parses `expiration_rules` of a loyalty program or an earning rule; numbers may be strings of digits. */
export function parseExpirationRules(
  json: Readonly<Record<string, unknown>>,
): ParsedExpirationRules {
  const { period_type: type } = json;
  if (type === "MONTH") {
    const months = integerOf(json["period_value"]);
    if (months === null || months < 0 || months > 1200) {
      return violation("period_value must be an integer from 0 to 1200");
    }
    const rounding = roundingOf(json);
    if (typeof rounding === "string") return violation(rounding);
    return { rules: { type, months, rounding } };
  }
  if (type === "FIXED_DAY_OF_YEAR") {
    const month = integerOf(json["fixed_month"]);
    const day = integerOf(json["fixed_day"]);
    if (month === null || month < 1 || month > 12) {
      return violation("fixed_month must be an integer from 1 to 12");
    }
    if (day === null || day < 1 || day > 31) {
      return violation("fixed_day must be an integer from 1 to 31");
    }
    return { rules: { type, month, day } };
  }
  return violation("period_type must be one of: MONTH, FIXED_DAY_OF_YEAR");
}

/** The rounding, or what is wrong with it. */
function roundingOf(json: Readonly<Record<string, unknown>>): ExpiryRounding | null | string {
  const { rounding_type: type } = json;
  if (type === undefined || type === null) return null;
  if (type === "PARTICULAR_MONTH") {
    const month = integerOf(json["rounding_value"]);
    return month === null || month < 1 || month > 12
      ? "rounding_value must be an integer from 1 to 12"
      : { type, month };
  }
  const known = ROUNDINGS.find((name) => name === type);
  return known === undefined
    ? `rounding_type must be one of: ${[...ROUNDINGS, "PARTICULAR_MONTH"].join(", ")}`
    : { type: known };
}

const violation = (text: string): ParsedExpirationRules => ({
  violation: `Property .expiration_rules.${text}`,
});

/** A number, or a string of digits; null for other values. */
export function integerOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
}
