import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileContext, Fields } from "./check-context.ts";
import { compileScalar, type ValueCheck } from "./check-scalar.ts";
import { enumNamesOf, jsonNameOf, ruleOf } from "./options.ts";
import { isHostileKey, isSafeText, structViolation, UNSAFE_TEXT } from "./safety.ts";
import type { Violation } from "./violation.ts";

type FieldCheck = (value: unknown) => Violation | undefined;

/** The check of one field, which prefixes every path with the field name. */
export function compileField(field: DescField, context: CompileContext): FieldCheck | undefined {
  const rule = ruleOf(field);
  const path = `.${jsonNameOf(field)}`;
  const check = compileValue(field, rule, context);
  const missing: Violation = {
    path: "",
    text: `should have required property '${jsonNameOf(field)}'`,
    missing: field,
  };
  const required = rule.required && !rule.internal;
  if (check === undefined && !required) return undefined;
  const isAbsent = absenceOf(field);
  return (value) => {
    if (isAbsent(value)) return required ? missing : undefined;
    const violation = check?.(value);
    return violation === undefined
      ? undefined
      : { path: path + violation.path, text: violation.text };
  };
}

/**
 * What counts as absent. Without `optional`, the wire does not distinguish empty text, an
 * unspecified enum or an empty list from an absent field; such a default violates only `required`.
 */
function absenceOf(field: DescField): (value: unknown) => boolean {
  if (field.fieldKind === "enum") return (value) => value === undefined || value === 0;
  if (field.fieldKind === "list") return (value) => (value as readonly unknown[]).length === 0;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING && isImplicit(field)) {
    return (value) => value === "";
  }
  return (value) => value === undefined;
}

const isImplicit = (field: DescField): boolean =>
  field.presence === FeatureSet_FieldPresence.IMPLICIT;

function compileValue(
  field: DescField,
  rule: Rule,
  context: CompileContext,
): FieldCheck | undefined {
  switch (field.fieldKind) {
    case "list":
      return compileList(compileSingle(field, rule, context), rule);
    case "map":
      return compileMap(compileSingle(field, rule, context), rule, context);
    default:
      return compileSingle(field, rule, context);
  }
}

/** The check of one value: of the field itself, or of one of its items. */
function compileSingle(
  field: DescField,
  rule: Rule,
  context: CompileContext,
): FieldCheck | undefined {
  if (field.message !== undefined) return compileMessageValue(field.message, context);
  if (field.enum !== undefined) return context.strict ? compileEnum(field.enum) : undefined;
  const check = compileScalar(field.scalar, rule, context.strict);
  return check === undefined ? undefined : atRoot(check);
}

const atRoot =
  (check: ValueCheck): FieldCheck =>
  (value) => {
    const text = check(value);
    return text === undefined ? undefined : { path: "", text };
  };

function compileMessageValue(desc: DescMessage, context: CompileContext): FieldCheck | undefined {
  if (desc.typeName === "google.protobuf.Struct") {
    return context.strict ? (value) => structViolation(value as JsonObject) : undefined;
  }
  if (desc.typeName === "google.protobuf.Timestamp") {
    return context.strict ? timestampViolation : undefined;
  }
  const check = context.resolve(desc);
  return check === undefined ? undefined : (value) => check(value as Fields);
}

/** 0001-01-01 and the last second of 9999: the range of JSON timestamps. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

function timestampViolation(value: unknown): Violation | undefined {
  const { seconds, nanos } = value as { seconds: bigint; nanos: number };
  const valid =
    seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos <= 999_999_999;
  return valid ? undefined : { path: "", text: "must be within the years 0001 to 9999" };
}

function compileEnum(desc: DescEnum): FieldCheck {
  const names = enumNamesOf(desc);
  const violation: Violation = { path: "", text: `must be one of: ${names.list}` };
  return (value) => (value === 0 || names.byNumber.has(value as number) ? undefined : violation);
}

function compileList(check: FieldCheck | undefined, rule: Rule): FieldCheck | undefined {
  const count = compileCount(rule);
  if (check === undefined && count === undefined) return undefined;
  return (value) => {
    const items = value as readonly unknown[];
    const violation = count?.(items.length);
    if (violation !== undefined) return violation;
    if (check === undefined) return undefined;
    for (let index = 0; index < items.length; index += 1) {
      const inner = check(items[index]);
      if (inner !== undefined) return { path: `[${index}]${inner.path}`, text: inner.text };
    }
    return undefined;
  };
}

function compileMap(
  check: FieldCheck | undefined,
  rule: Rule,
  context: CompileContext,
): FieldCheck | undefined {
  const count = compileCount(rule);
  if (check === undefined && count === undefined && !context.strict) return undefined;
  return (value) => {
    const entries = Object.entries(value as Fields);
    const violation = count?.(entries.length);
    if (violation !== undefined) return violation;
    for (const [key, item] of entries) {
      if (context.strict && !isSafeText(key)) return { path: "", text: UNSAFE_TEXT };
      if (isHostileKey(key, null)) return { path: "", text: `must not have the property '${key}'` };
      const inner = check?.(item);
      if (inner !== undefined) return { path: `.${key}${inner.path}`, text: inner.text };
    }
    return undefined;
  };
}

function compileCount(rule: Rule): ((count: number) => Violation | undefined) | undefined {
  const { minItems, maxItems } = rule;
  if (minItems === undefined && maxItems === undefined) return undefined;
  return (count) => {
    if (maxItems !== undefined && count > maxItems) {
      return { path: "", text: `must NOT have more than ${maxItems} items` };
    }
    if (minItems !== undefined && count < minItems) {
      return { path: "", text: `must NOT have fewer than ${minItems} items` };
    }
    return undefined;
  };
}
