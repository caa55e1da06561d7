import { type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { isSafeText, ruleOf } from "@scrip/contract";
import fc from "fast-check";

type Draft = Record<string, unknown>;

/** Any message of a type, as JSON can hold it: dates of milliseconds, safe integers, clean text. */
export function messageArbitrary(desc: DescMessage): fc.Arbitrary<Draft> {
  const members = desc.fields
    .filter((field) => !ruleOf(field).internal && field.oneof === undefined)
    .map((field) => [field.localName, fieldArbitrary(field)] as const);
  return fc.record(Object.fromEntries(members)).map((values) => {
    const present = Object.entries(values).filter(([, value]) => value !== undefined);
    return { $typeName: desc.typeName, ...Object.fromEntries(present) };
  });
}

function fieldArbitrary(field: DescField): fc.Arbitrary<unknown> {
  const { minItems, maxItems } = ruleOf(field);
  if (field.fieldKind === "list") {
    const maxLength = Math.min(maxItems ?? 3, 3);
    return fc.array(singleArbitrary(field), { minLength: minItems ?? 0, maxLength });
  }
  if (field.fieldKind === "map") {
    return fc.dictionary(cleanText.filter(isPlainKey), singleArbitrary(field), {
      maxKeys: 3,
      noNullPrototype: true,
    });
  }
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    return fc.option(singleArbitrary(field), { nil: undefined });
  }
  const zero = field.fieldKind === "scalar" ? scalarZeroValue(field.scalar, false) : 0;
  const mayBeEmpty = (ruleOf(field).minLength ?? 0) === 0 && !ruleOf(field).decimal;
  return mayBeEmpty ? fc.oneof(fc.constant(zero), singleArbitrary(field)) : singleArbitrary(field);
}

function singleArbitrary(field: DescField): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) {
    const numbers = field.enum.values.map(({ number }) => number).filter((number) => number !== 0);
    return fc.constantFrom(...numbers);
  }
  if (field.message === undefined) return scalarArbitrary(field, field.scalar);
  if (field.message.typeName === "google.protobuf.Timestamp") return timestamp;
  if (field.message.typeName === "google.protobuf.Struct") return struct;
  return messageArbitrary(field.message);
}

function scalarArbitrary(field: DescField, scalar: ScalarType): fc.Arbitrary<unknown> {
  switch (scalar) {
    case ScalarType.STRING:
      return ruleOf(field).decimal ? decimal : cleanText.filter((text) => text !== "");
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
      return fc.integer();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat();
    default:
      return fc.maxSafeInteger().map(BigInt);
  }
}

export const cleanText = fc.string({ unit: "binary", maxLength: 20 }).filter(isSafeText);

const isPlainKey = (key: string): boolean => key !== "__proto__" && key !== "constructor";

const decimal = fc
  .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.stringMatching(/^\d{0,8}[1-9]$/))
  .map(([whole, fraction]) => `${whole}.${fraction}`);

const timestamp = fc
  .date({
    noInvalidDate: true,
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
  })
  .map((date) => {
    const seconds = Math.floor(date.getTime() / 1000);
    const nanos = (date.getTime() - seconds * 1000) * 1_000_000;
    return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos };
  });

const struct: fc.Arbitrary<JsonObject> = fc
  .dictionary(cleanText, fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }), { maxKeys: 4 })
  // What JSON cannot tell apart, such as -0 and 0, is made one.
  .map((value) => JSON.stringify(value))
  .filter((text) => !/__proto__|constructor|\\u0000/.test(text))
  .map((text) => JSON.parse(text) as JsonObject);
