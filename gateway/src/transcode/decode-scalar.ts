import { type DescEnum, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { enumNamesOf, nanosBehindMs, parseTimestamp } from "@scrip/contract";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";

import { parseDecimal } from "./decimal.ts";
import { DecodeError } from "./decode-error.ts";

/** Decodes one JSON value; the caller has handled null and absent values. */
export type Decode = (value: JsonValue) => unknown;

/** JSON values have types; query strings and forms contain only text. */
export type Mode = "json" | "text";

/**
 * Describes the expected type: `must be string`, or `should be string,null` for nullable fields.
 */
export function expected(type: string, rule: Rule): string {
  return rule.nullable ? `should be ${type},null` : `must be ${type}`;
}

export function compileScalar(type: ScalarType, rule: Rule, mode: Mode): Decode {
  switch (type) {
    case ScalarType.STRING:
      return rule.decimal ? decimalDecoder(rule) : stringDecoder(rule);
    case ScalarType.BOOL:
      return boolDecoder(rule, mode);
    case ScalarType.BYTES:
      return bytesDecoder(rule);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value) => toNumber(value, rule);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return (value) => toInteger(value, rule, INT32);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (value) => toInteger(value, rule, UINT32);
    default:
      return (value) => BigInt(toInteger(value, rule, SAFE));
  }
}

type Range = { readonly min: number; readonly max: number };

const INT32: Range = { min: -2_147_483_648, max: 2_147_483_647 };
const UINT32: Range = { min: 0, max: 4_294_967_295 };
const SAFE: Range = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

const DIGITS = /^-?\d{1,19}$/;

function toInteger(value: JsonValue, rule: Rule, range: Range): number {
  const number = typeof value === "string" && DIGITS.test(value) ? Number(value) : value;
  if (typeof number !== "number") throw new DecodeError(expected("number", rule));
  if (!Number.isInteger(number)) throw new DecodeError(expected("integer", rule));
  if (number < range.min || number > range.max) {
    throw new DecodeError(`must be an integer between ${range.min} and ${range.max}`);
  }
  return number;
}

function toNumber(value: JsonValue, rule: Rule): number {
  const isText = typeof value === "string" && parseDecimal(value) !== undefined;
  const number = isText ? Number(value) : value;
  if (typeof number !== "number") throw new DecodeError(expected("number", rule));
  return number;
}

/**
 * A JSON number is read as its shortest decimal text, exact as far as a double holds it. Senders
 * use a string for more digits.
 */
function decimalDecoder(rule: Rule): Decode {
  return (value) => {
    const isText = typeof value === "string" || typeof value === "number";
    const decimal = isText ? parseDecimal(String(value)) : undefined;
    if (decimal === undefined) throw new DecodeError(expected("number", rule));
    return decimal;
  };
}

function stringDecoder(rule: Rule): Decode {
  const { minLength } = rule;
  return (value) => {
    if (typeof value !== "string") throw new DecodeError(expected("string", rule));
    // Protobuf does not distinguish an empty string from an absent one, so the minimum is checked
    // here.
    if (value === "" && minLength !== undefined && minLength > 0) {
      throw new DecodeError(`must NOT have fewer than ${minLength} characters`);
    }
    return value;
  };
}

function boolDecoder(rule: Rule, mode: Mode): Decode {
  return (value) => {
    if (typeof value === "boolean") return value;
    if (mode === "text" && typeof value === "string") {
      const text = value.toLowerCase();
      if (text === "true" || text === "false") return text === "true";
    }
    throw new DecodeError(expected("boolean", rule));
  };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function bytesDecoder(rule: Rule): Decode {
  return (value) => {
    if (typeof value !== "string" || value.length % 4 !== 0 || !BASE64.test(value)) {
      throw new DecodeError(expected("base64 string", rule));
    }
    return new Uint8Array(Buffer.from(value, "base64"));
  };
}

export function compileEnum(desc: DescEnum): Decode {
  const { byName, list } = enumNamesOf(desc);
  return (value) => {
    const number = typeof value === "string" ? byName.get(value) : undefined;
    if (number === undefined) throw new DecodeError(`must be one of: ${list}`);
    return number;
  };
}

export function timestampDecoder({ nanoseconds }: Rule): Decode {
  return (value) => {
    const text = typeof value === "string" ? value : "";
    const ms = parseTimestamp(text);
    if (ms === undefined) {
      throw new DecodeError("cannot be recognized as a ISO-8601 compliant date");
    }
    const seconds = Math.floor(ms / 1000);
    return {
      $typeName: "google.protobuf.Timestamp",
      seconds: BigInt(seconds),
      nanos: (ms - seconds * 1000) * 1_000_000 + (nanoseconds ? nanosBehindMs(text) : 0),
    };
  };
}
