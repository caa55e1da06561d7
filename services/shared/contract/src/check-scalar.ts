import { ScalarType } from "@bufbuild/protobuf";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";
import { parseDuration } from "@scrip/rules";

import {
  compareDecimals,
  isCalendarDay,
  isDecimal,
  isLongerThan,
  isShorterThan,
} from "./formats.ts";
import { isSafeText, UNSAFE_TEXT } from "./safety.ts";

/** Returns what is wrong with a value, or undefined. */
export type ValueCheck = (value: unknown) => string | undefined;

/** Compiles the rules of a scalar; undefined when there are none. */
export function compileScalar(
  type: ScalarType | undefined,
  rule: Rule,
  strict: boolean,
): ValueCheck | undefined {
  switch (type) {
    case ScalarType.STRING:
      return firstOf(textChecks(rule, strict));
    case ScalarType.BOOL:
    case ScalarType.BYTES:
    case undefined:
      return undefined;
    default:
      return firstOf(numberChecks(rule, strict && isLong(type)));
  }
}

function firstOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  const [only, second] = checks;
  if (second === undefined) return only;
  return (value) => {
    for (const check of checks) {
      const text = check(value);
      if (text !== undefined) return text;
    }
    return undefined;
  };
}

const isLong = (type: ScalarType): boolean =>
  type === ScalarType.INT64 ||
  type === ScalarType.UINT64 ||
  type === ScalarType.SINT64 ||
  type === ScalarType.FIXED64 ||
  type === ScalarType.SFIXED64;

function numberChecks(rule: Rule, safe: boolean): ValueCheck[] {
  const checks: ValueCheck[] = [];
  const { min, max } = rule;
  if (safe) checks.push((value) => (isSafe(value as bigint) ? undefined : UNSAFE_INTEGER));
  // A bigint bound compares exactly with numbers and bigints.
  if (min !== undefined) {
    const text = `cannot be lower than ${min}`;
    checks.push((value) => ((value as bigint) < min ? text : undefined));
  }
  if (max !== undefined) {
    const text = `cannot be higher than ${max}`;
    checks.push((value) => ((value as bigint) > max ? text : undefined));
  }
  return checks;
}

const UNSAFE_INTEGER = "must be an integer between -9007199254740991 and 9007199254740991";
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

const isSafe = (value: bigint): boolean => value <= MAX_SAFE && value >= -MAX_SAFE;

function textChecks(rule: Rule, strict: boolean): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (strict) checks.push((value) => (isSafeText(value as string) ? undefined : UNSAFE_TEXT));
  checks.push(...lengthChecks(rule));
  if (rule.pattern !== "") {
    const pattern = new RegExp(`^(?:${rule.pattern})$`, "u");
    const text = `must match pattern "${rule.pattern}"`;
    checks.push((value) => (pattern.test(value as string) ? undefined : text));
  }
  if (rule.values.length > 0) {
    const values = new Set<unknown>(rule.values);
    const text = `must be one of: ${rule.values.join(", ")}`;
    checks.push((value) => (values.has(value) ? undefined : text));
  }
  if (rule.decimal) checks.push(...decimalChecks(rule));
  if (rule.date) {
    checks.push((value) =>
      isCalendarDay(value as string) ? undefined : "must be a date (YYYY-MM-DD)",
    );
  }
  if (rule.duration) {
    checks.push((value) =>
      parseDuration(value as string) === undefined ? "must be an ISO 8601 duration" : undefined,
    );
  }
  return checks;
}

function lengthChecks({ minLength, maxLength }: Rule): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (maxLength !== undefined) {
    const text = `must NOT have more than ${maxLength} characters`;
    checks.push((value) => (isLongerThan(value as string, maxLength) ? text : undefined));
  }
  if (minLength !== undefined) {
    const text = `must NOT have fewer than ${minLength} characters`;
    checks.push((value) => (isShorterThan(value as string, minLength) ? text : undefined));
  }
  return checks;
}

function decimalChecks({ minDecimal, maxDecimal }: Rule): ValueCheck[] {
  const checks: ValueCheck[] = [
    (value) => (isDecimal(value as string) ? undefined : "must be number"),
  ];
  if (minDecimal !== "") {
    const text = `cannot be lower than ${minDecimal}`;
    checks.push((value) => (compareDecimals(value as string, minDecimal) < 0 ? text : undefined));
  }
  if (maxDecimal !== "") {
    const text = `cannot be higher than ${maxDecimal}`;
    checks.push((value) => (compareDecimals(value as string, maxDecimal) > 0 ? text : undefined));
  }
  return checks;
}
