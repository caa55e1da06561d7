import { type Duration, parseDuration } from "../time/duration.ts";
import { integerOf } from "./expiration-rules.ts";

/** Calendar periods in which members qualify for tiers. */
export type TierPeriod = "MONTH" | "QUARTER" | "HALF_YEAR" | "YEAR";

/** How the end of a tier is moved to a boundary of a period; `month` counts from 1. */
export type TierRounding = {
  readonly to: { readonly period: TierPeriod } | { readonly month: number };
  readonly strategy: "START" | "END";
};

export type TierExpiration =
  /** A tier ends with the balance that it needs. */
  | { readonly type: "BALANCE_DROP" }
  | {
      readonly type: "END_OF_PERIOD" | "END_OF_NEXT_PERIOD" | "CUSTOM";
      readonly extend: Duration | null;
      readonly rounding: TierRounding | null;
    };

/** How members of a loyalty program qualify for tiers, and how long they stay (docs/tiers.md#qualification). */
export type TierPolicy = {
  readonly qualification: "BALANCE" | "POINTS_IN_PERIOD";
  readonly period: TierPeriod;
  readonly start: "IMMEDIATE" | "NEXT_PERIOD";
  readonly expiration: TierExpiration;
};

/** The policy of programs without settings. */
export const DEFAULT_TIER_POLICY: TierPolicy = {
  qualification: "BALANCE",
  period: "YEAR",
  start: "IMMEDIATE",
  expiration: { type: "BALANCE_DROP" },
};

export type ParsedTierPolicy = { readonly policy: TierPolicy } | { readonly violation: string };

type Json = Readonly<Record<string, unknown>>;

const QUALIFICATIONS = ["BALANCE", "POINTS_IN_PERIOD"] as const;
const PERIODS = ["MONTH", "QUARTER", "HALF_YEAR", "YEAR"] as const;
const STARTS = ["IMMEDIATE", "NEXT_PERIOD"] as const;
const EXPIRATIONS = ["END_OF_PERIOD", "END_OF_NEXT_PERIOD", "BALANCE_DROP", "CUSTOM"] as const;
const STRATEGIES = ["START", "END"] as const;

/** Parses `loyalty_tiers_expiration` of a campaign, or says what is wrong with it, in the words of the API. */
export function parseTierPolicy(json: Json | null): ParsedTierPolicy {
  if (json === null) return { policy: DEFAULT_TIER_POLICY };
  try {
    return { policy: readPolicy(json) };
  } catch (error) {
    if (error instanceof Violation) {
      return { violation: `Property .loyalty_tiers_expiration.${error.message}` };
    }
    throw error;
  }
}

class Violation extends Error {}

function readPolicy(json: Json): TierPolicy {
  const qualification = oneOf(json, "qualification_type", QUALIFICATIONS) ?? "BALANCE";
  const isByPeriod = qualification === "POINTS_IN_PERIOD";
  const period = oneOf(json, "qualification_period", PERIODS);
  if (isByPeriod && period === null) {
    throw new Violation("qualification_period is required for POINTS_IN_PERIOD");
  }
  const start = oneOf(objectIn(json, "start_date"), "type", STARTS, "start_date.") ?? "IMMEDIATE";
  if (start === "NEXT_PERIOD" && !isByPeriod) {
    throw new Violation("start_date.type NEXT_PERIOD needs POINTS_IN_PERIOD");
  }
  return {
    qualification,
    period: period ?? "YEAR",
    start,
    expiration: readExpiration(objectIn(json, "expiration_date"), isByPeriod),
  };
}

function readExpiration(json: Json | null, isByPeriod: boolean): TierExpiration {
  const at = "expiration_date.";
  const type =
    oneOf(json, "type", EXPIRATIONS, at) ?? (isByPeriod ? "END_OF_PERIOD" : "BALANCE_DROP");
  if (type === "BALANCE_DROP") {
    if (isByPeriod) throw new Violation(`${at}type BALANCE_DROP needs BALANCE`);
    return { type };
  }
  if (!isByPeriod && type !== "CUSTOM") {
    throw new Violation(`${at}type ${type} needs POINTS_IN_PERIOD`);
  }
  const extend = json?.["extend"] ?? null;
  const duration = typeof extend === "string" ? parseDuration(extend) : undefined;
  if (extend !== null && (duration === undefined || duration.ms > 0)) {
    throw new Violation(`${at}extend must be an ISO 8601 duration of whole days`);
  }
  if (type === "CUSTOM" && extend === null) throw new Violation(`${at}extend is required`);
  return {
    type,
    extend: duration ?? null,
    rounding: readRounding(objectIn(json, "rounding", at), `${at}rounding.`),
  };
}

function readRounding(json: Json | null, at: string): TierRounding | null {
  const type = oneOf(json, "type", [...PERIODS, "CUSTOM"] as const, at);
  if (type === null) return null;
  const strategy = oneOf(json, "strategy", STRATEGIES, at) ?? "END";
  if (type !== "CUSTOM") return { to: { period: type }, strategy };
  const value = integerOf(json?.["value"]);
  if (value === null || value < 0 || value > 11) {
    throw new Violation(`${at}value must be an integer from 0 to 11`);
  }
  // Unlike the months of expiration rules, these count from 0.
  return { to: { month: value + 1 }, strategy };
}

function objectIn(json: Json | null, name: string, at = ""): Json | null {
  const value = json?.[name] ?? null;
  if (value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new Violation(`${at}${name} must be object`);
  }
  return value as Json;
}

function oneOf<Name extends string>(
  json: Json | null,
  name: string,
  names: readonly Name[],
  at = "",
): Name | null {
  const value = json?.[name] ?? null;
  if (value === null) return null;
  const known = names.find((each) => each === value);
  if (known === undefined) throw new Violation(`${at}${name} must be one of: ${names.join(", ")}`);
  return known;
}
