import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { enumNamesOf, ruleOf } from "@scrip/contract";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";

import { commentOf } from "./comments.ts";
import { FREE_FORM, type JsonSchema, orNull } from "./json-schema.ts";

/** Returns a reference to the schema of a message. */
export type Reference = (desc: DescMessage) => JsonSchema;

/** The schema of a field, with its comment as description. */
export function fieldSchema(field: DescField, reference: Reference): JsonSchema {
  const rule = ruleOf(field);
  const schema = shapeSchema(field, rule, reference);
  const description = commentOf(`${field.parent.typeName}.${field.name}`);
  const described = description === undefined ? schema : { ...schema, description };
  return rule.nullable ? orNull(described) : described;
}

function shapeSchema(field: DescField, rule: Rule, reference: Reference): JsonSchema {
  const { minItems, maxItems } = rule;
  const single = singleSchema(field, rule, reference);
  if (field.fieldKind === "list") {
    return {
      type: "array",
      items: single,
      ...(minItems !== undefined && { minItems }),
      ...(maxItems !== undefined && { maxItems }),
    };
  }
  if (field.fieldKind === "map") {
    return {
      type: "object",
      additionalProperties: single,
      ...(minItems !== undefined && { minProperties: minItems }),
      ...(maxItems !== undefined && { maxProperties: maxItems }),
    };
  }
  return single;
}

function singleSchema(field: DescField, rule: Rule, reference: Reference): JsonSchema {
  if (field.enum !== undefined) return enumSchema(field.enum);
  if (field.message === undefined) return scalarSchema(field.scalar, rule);
  switch (field.message.typeName) {
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    case "google.protobuf.Struct":
      // openapi-generator ignores null beside a reference to a free-form object.
      return rule.nullable ? FREE_FORM : reference(field.message);
    case "google.protobuf.Value":
      return {};
    default:
      return reference(field.message);
  }
}

function enumSchema(desc: DescEnum): JsonSchema {
  return { type: "string", enum: [...enumNamesOf(desc).byName.keys()] };
}

function scalarSchema(scalar: ScalarType, rule: Rule): JsonSchema {
  switch (scalar) {
    case ScalarType.STRING:
      return rule.decimal ? decimalSchema(rule) : textSchema(rule);
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number", ...bounds(rule) };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "int32", ...bounds(rule) };
    default:
      return { type: "integer", format: "int64", ...bounds(rule) };
  }
}

function bounds({ min, max }: Rule): JsonSchema {
  return {
    ...(min !== undefined && { minimum: Number(min) }),
    ...(max !== undefined && { maximum: Number(max) }),
  };
}

function decimalSchema({ minDecimal, maxDecimal }: Rule): JsonSchema {
  return {
    type: "number",
    ...(minDecimal !== "" && { minimum: Number(minDecimal) }),
    ...(maxDecimal !== "" && { maximum: Number(maxDecimal) }),
  };
}

function textSchema(rule: Rule): JsonSchema {
  const { minLength, maxLength, pattern, values } = rule;
  return {
    type: "string",
    ...(rule.date && { format: "date" }),
    ...(rule.duration && { format: "duration" }),
    ...(values.length > 0 && { enum: values }),
    ...(pattern !== "" && { pattern: `^(?:${pattern})$` }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  };
}
