import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence, ValueSchema } from "@bufbuild/protobuf/wkt";
import { isSafeText, jsonNameOf, ruleOf, shapeOf } from "@scrip/contract";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";
import fc from "fast-check";

type Draft = Record<string, unknown>;

/** Any valid message of a type that JSON can represent: milliseconds, safe integers, clean text. */
export function messageArbitrary(desc: DescMessage): fc.Arbitrary<Draft> {
  const members = desc.fields
    .filter((field) => !ruleOf(field).internal && field.oneof === undefined)
    .filter((field) => !isHiddenByBody(field))
    .map((field) => {
      const rule = ruleOf(field);
      // When absent, it decodes as the object name of the message.
      const isOwnName = field.name === "object" && shapeOf(desc).object !== "";
      const value = isOwnName ? singleArbitrary(field, rule) : fieldArbitrary(field);
      return [field.localName, value] as const;
    });
  // JSON has no internal fields, so their lists are empty.
  const emptyLists = Object.fromEntries(
    desc.fields
      .filter((field) => ruleOf(field).internal && field.fieldKind === "list")
      .map(({ localName }) => [localName, []]),
  );
  return fc.record(Object.fromEntries(members)).map((values) => {
    const present = Object.entries(values).filter(([, value]) => value !== undefined);
    return { $typeName: desc.typeName, ...emptyLists, ...Object.fromEntries(present) };
  });
}

/** A field of the query may have the name of a field of the body, which JSON then holds instead. */
const isHiddenByBody = (field: DescField): boolean =>
  ruleOf(field).inQuery &&
  field.parent.fields.some((other) => other !== field && jsonNameOf(other) === jsonNameOf(field));

function fieldArbitrary(field: DescField): fc.Arbitrary<unknown> {
  const rule = ruleOf(field);
  const single = singleArbitrary(field, rule);
  const minLength = Math.max(rule.minItems ?? 0, rule.required ? 1 : 0);
  if (field.fieldKind === "list") {
    return fc.array(single, { minLength, maxLength: Math.min(rule.maxItems ?? 3, 3) });
  }
  if (field.fieldKind === "map") {
    const key = text(1, 20).filter((each) => each !== "__proto__" && each !== "constructor");
    return fc.dictionary(key, single, { minKeys: minLength, maxKeys: 3, noNullPrototype: true });
  }
  if (rule.required) return single;
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    return fc.option(single, { nil: undefined });
  }
  const zero = field.fieldKind === "scalar" ? scalarZeroValue(field.scalar, false) : 0;
  const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
  const mayBeZero = isText ? isEmptyAllowed(rule) : (rule.min ?? 0n) <= 0n;
  return mayBeZero ? fc.oneof(fc.constant(zero), single) : single;
}

const isEmptyAllowed = (rule: Rule): boolean =>
  (rule.minLength ?? 0) === 0 &&
  rule.pattern === "" &&
  rule.values.length === 0 &&
  !(rule.decimal || rule.date || rule.duration);

function singleArbitrary(field: DescField, rule: Rule): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) {
    const numbers = field.enum.values.map(({ number }) => number).filter((number) => number !== 0);
    return fc.constantFrom(...numbers);
  }
  if (field.message === undefined) return scalarArbitrary(field.scalar, rule);
  if (field.message.typeName === "google.protobuf.Timestamp") return timestamp;
  if (field.message.typeName === "google.protobuf.Struct") return struct;
  if (field.message.typeName === "google.protobuf.Value") return anyValue;
  return messageArbitrary(field.message);
}

function scalarArbitrary(scalar: ScalarType, rule: Rule): fc.Arbitrary<unknown> {
  switch (scalar) {
    case ScalarType.STRING:
      return textArbitrary(rule);
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 20 });
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer(bounds(rule));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat();
    default:
      return fc
        .maxSafeInteger()
        .map(BigInt)
        .map((value) => clamp(value, rule));
  }
}

function bounds({ min, max }: Rule): { min?: number; max?: number } {
  return {
    ...(min !== undefined && { min: Number(min) }),
    ...(max !== undefined && { max: Number(max) }),
  };
}

function clamp(value: bigint, { min, max }: Rule): bigint {
  if (min !== undefined && value < min) return min;
  return max !== undefined && value > max ? max : value;
}

function textArbitrary(rule: Rule): fc.Arbitrary<string> {
  if (rule.values.length > 0) return fc.constantFrom(...rule.values);
  if (rule.pattern !== "") return fc.stringMatching(new RegExp(`^(?:${rule.pattern})$`, "u"));
  if (rule.decimal) return decimal(rule);
  if (rule.date) return date.map((each) => each.toISOString().slice(0, 10));
  if (rule.duration) return fc.constantFrom("P1D", "PT1H", "P1M2DT3H", "PT0.5S");
  return text(Math.max(rule.minLength ?? 0, 1), Math.min(rule.maxLength ?? 20, 20));
}

const text = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: "binary", minLength, maxLength }).filter(isSafeText);

/** A JSON number holds nine fraction digits exactly. */
const MOST_WHOLE = 1_000_000;

function decimal({ minDecimal, maxDecimal }: Rule): fc.Arbitrary<string> {
  const min = minDecimal === "" ? -MOST_WHOLE : Math.ceil(Number(minDecimal));
  const max = maxDecimal === "" ? MOST_WHOLE : Math.min(Number(maxDecimal), MOST_WHOLE);
  return fc
    .tuple(fc.integer({ min, max: Math.floor(max) - 1 }), fc.stringMatching(/^\d{0,8}[1-9]$/))
    .map(([whole, fraction]) => `${whole}.${fraction}`);
}

const date = fc.date({
  noInvalidDate: true,
  min: new Date("0001-01-01T00:00:00Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
});

const timestamp = date.map((each) => {
  const seconds = Math.floor(each.getTime() / 1000);
  const nanos = (each.getTime() - seconds * 1000) * 1_000_000;
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos };
});

// Normalizes values that JSON does not distinguish, such as -0 and 0.
const clean = (value: fc.Arbitrary<unknown>): fc.Arbitrary<JsonValue> =>
  value
    .map((each) => JSON.stringify(each))
    .filter((each) => !/__proto__|constructor|\\u0000/.test(each))
    .map((each) => JSON.parse(each) as JsonValue);

const json = fc.jsonValue({ maxDepth: 3, stringUnit: "binary" });

const struct = clean(fc.dictionary(text(0, 20), json, { maxKeys: 4 }));

/** Any value except null, which means absent in JSON. */
const anyValue = clean(json)
  .filter((value) => value !== null)
  .map((value) => fromJson(ValueSchema, value));
