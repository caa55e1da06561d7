import type { ExpirationRules, ExpiryRounding } from "../domain/expiry-date.ts";

export type ParsedExpirationRules =
  | { readonly kind: "rules"; readonly rules: ExpirationRules }
  | { readonly kind: "violation"; readonly text: string };

const ROUNDINGS = ["END_OF_MONTH", "END_OF_QUARTER", "END_OF_HALF_YEAR", "END_OF_YEAR"] as const;
const MAX_MONTHS = 1_200;

/** Reads `expiration_rules` as they are sent and stored, or says what is wrong with them. */
export function parseExpirationRules(
  json: Readonly<Record<string, unknown>>,
): ParsedExpirationRules {
  const type = json["period_type"];
  if (type === "FIXED_DAY_OF_YEAR") return parseFixedDay(json);
  if (type !== "MONTH") {
    return violation("period_type must be 'MONTH' or 'FIXED_DAY_OF_YEAR'");
  }
  const months = integerOf(json["period_value"]);
  if (months === null || months < 0 || months > MAX_MONTHS) {
    return violation(`period_value must be an integer from 0 to ${MAX_MONTHS}`);
  }
  const rounding = parseRounding(json);
  return typeof rounding === "string"
    ? violation(rounding)
    : { kind: "rules", rules: { type, months, rounding } };
}

const violation = (text: string): ParsedExpirationRules => ({
  kind: "violation",
  text: `Property .expiration_rules.${text}`,
});

function parseFixedDay(json: Readonly<Record<string, unknown>>): ParsedExpirationRules {
  const month = integerOf(json["fixed_month"]);
  const day = integerOf(json["fixed_day"]);
  if (month === null || month < 1 || month > 12) {
    return violation("fixed_month must be an integer from 1 to 12");
  }
  if (day === null || day < 1 || day > 31) {
    return violation("fixed_day must be an integer from 1 to 31");
  }
  return { kind: "rules", rules: { type: "FIXED_DAY_OF_YEAR", month, day } };
}

/** The rounding; null without one; a text says what is wrong. */
function parseRounding(json: Readonly<Record<string, unknown>>): ExpiryRounding | null | string {
  const type = json["rounding_type"] ?? null;
  if (type === null) return null;
  const known = ROUNDINGS.find((each) => each === type);
  if (known !== undefined) return { type: known };
  if (type !== "PARTICULAR_MONTH") {
    return `rounding_type must be one of: ${ROUNDINGS.join(", ")}, PARTICULAR_MONTH`;
  }
  const month = integerOf(json["rounding_value"]);
  if (month === null || month < 1 || month > 12) {
    return "rounding_value must be an integer from 1 to 12";
  }
  return { type, month };
}

/** Integers are accepted as numbers and as texts of digits. */
function integerOf(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
}

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
