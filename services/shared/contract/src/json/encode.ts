import {
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { type Timestamp, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";

import { isDecimal } from "../formats.ts";
import { enumNamesOf, jsonNameOf, ruleOf, shapeOf } from "../options.ts";
import { formatTimestamp } from "./format-timestamp.ts";

/** Encodes a message as JSON. */
export type Encode = (message: Message) => string;

export type Fields = Readonly<Record<string, unknown>>;
export type EncodeMessage = (message: Fields) => string;
type EncodeValue = (value: unknown) => string;

/** Returns `"name":value`, or an empty string when the field is omitted. */
export type EncodeMember = (message: Fields) => string;

/**
 * Compiles the encoder of each message once. Encoders concatenate text, which is faster than
 * building an object for JSON.stringify. `object` and `data_ref` come first, then the fields in the
 * order of the contract.
 */
export function createEncoders(): Find {
  const compiled = new Map<DescMessage, EncodeMessage>();
  const find = (desc: DescMessage): EncodeMessage => {
    const known = compiled.get(desc);
    if (known !== undefined) return known;
    // A recursive message finds this entry while it is being compiled.
    compiled.set(desc, (message) => compiled.get(desc)?.(message) ?? "");
    const encode = compileMessage(desc, find);
    compiled.set(desc, encode);
    return encode;
  };
  return find;
}

export type Find = (desc: DescMessage) => EncodeMessage;

function compileMessage(desc: DescMessage, find: Find): EncodeMessage {
  const startOf = compileStart(desc);
  const members = membersOf(desc).map((field) => compileMember(field, find));
  if (startOf === undefined) return compileHeadless(members);
  return (message) => {
    let text = startOf(message);
    for (const member of members) {
      const part = member(message);
      if (part !== "") text += `,${part}`;
    }
    return `${text}}`;
  };
}

/** The fields after `object` and `data_ref`. */
export const membersOf = (desc: DescMessage): readonly DescField[] =>
  desc.fields.filter((field) => !ruleOf(field).internal && field !== ownObjectOf(desc));

/** A field named `object` replaces the constant in messages of several kinds. */
const ownObjectOf = (desc: DescMessage): DescField | undefined =>
  shapeOf(desc).object === "" ? undefined : desc.field["object"];

/** The opening of a message with `object` or `data_ref`; undefined for other messages. */
export function compileStart(desc: DescMessage): EncodeMessage | undefined {
  const { object, dataRef } = shapeOf(desc);
  const own = ownObjectOf(desc);
  const head = [
    ...(object === "" ? [] : [`"object":${JSON.stringify(object)}`]),
    ...(dataRef === "" ? [] : [`"data_ref":${JSON.stringify(dataRef)}`]),
  ].join(",");
  if (head === "") return undefined;
  const start = `{${head}`;
  const constant = JSON.stringify(object);
  return (message) => {
    const kind = own === undefined ? undefined : message[own.localName];
    return kind === undefined ? start : start.replace(constant, JSON.stringify(kind));
  };
}

/** Without `object` and `data_ref`, the first field has no preceding comma. */
function compileHeadless(members: readonly EncodeMember[]): EncodeMessage {
  return (message) => {
    let text = "{";
    let separator = "";
    for (const member of members) {
      const part = member(message);
      if (part === "") continue;
      text += separator + part;
      separator = ",";
    }
    return `${text}}`;
  };
}

export function compileMember(field: DescField, find: Find): EncodeMember {
  const rule = ruleOf(field);
  const name = `${JSON.stringify(jsonNameOf(field))}:`;
  const absent = rule.nullable ? `${name}null` : "";
  const encode = compileValue(field, rule, find);
  const { localName, oneof } = field;
  if (oneof !== undefined) {
    return (message) => {
      const group = message[oneof.localName] as { case?: string; value?: unknown };
      return group.case === localName ? name + encode(group.value) : absent;
    };
  }
  if (field.fieldKind === "list" || field.fieldKind === "map" || field.fieldKind === "enum") {
    const isAbsent = absenceOf(field, rule);
    const flag = field.parent.fields.find(({ name: each }) => each === rule.writtenIf)?.localName;
    return (message) => {
      const value = message[localName];
      const isOmitted = isAbsent(value) && (flag === undefined || message[flag] !== true);
      return isOmitted ? absent : name + encode(value);
    };
  }
  return (message) => {
    const value = message[localName];
    return value === undefined ? absent : name + encode(value);
  };
}

/**
 * Empty lists and maps are omitted or null only where the contract says so; scalars are always
 * written.
 */
function absenceOf(field: DescField, rule: Rule): (value: unknown) => boolean {
  const mayBeEmpty = !rule.nullable && !rule.omitEmpty;
  if (field.fieldKind === "list") {
    return mayBeEmpty ? never : (value) => (value as readonly unknown[]).length === 0;
  }
  if (field.fieldKind === "map") {
    return mayBeEmpty ? never : (value) => Object.keys(value as Fields).length === 0;
  }
  // JSON has no name for the unspecified enum value.
  return (value) => value === undefined || value === 0;
}

const never = (): boolean => false;

function compileValue(field: DescField, rule: Rule, find: Find): EncodeValue {
  const encode = compileSingle(field, rule, find);
  if (field.fieldKind === "list") {
    return (value) => {
      let text = "";
      for (const item of value as readonly unknown[]) {
        text = text === "" ? encode(item) : `${text},${encode(item)}`;
      }
      return `[${text}]`;
    };
  }
  if (field.fieldKind === "map") {
    return (value) => {
      let text = "";
      for (const [key, item] of Object.entries(value as Fields)) {
        text += `${text === "" ? "" : ","}${encodeText(key)}:${encode(item)}`;
      }
      return `{${text}}`;
    };
  }
  return encode;
}

/** For a list: the encoder of one item. */
export function compileSingle(field: DescField, rule: Rule, find: Find): EncodeValue {
  if (field.enum !== undefined) {
    const { byNumber } = enumNamesOf(field.enum);
    // An unknown number comes from a newer service; it is written as a number.
    return (value) => encodeText(byNumber.get(value as number) ?? String(value));
  }
  if (field.message === undefined) return compileScalar(field.scalar, rule);
  switch (field.message.typeName) {
    case "google.protobuf.Timestamp":
      if (rule.nanoseconds) return (value) => encodeNanoseconds(value as Timestamp);
      return (value) => encodeTimestamp(value as Timestamp);
    case "google.protobuf.Struct":
      return (value) => JSON.stringify(value);
    case "google.protobuf.Value":
      return (value) => JSON.stringify(toJson(ValueSchema, value as Value));
    default:
      return find(field.message) as EncodeValue;
  }
}

function compileScalar(type: ScalarType, rule: Rule): EncodeValue {
  switch (type) {
    case ScalarType.STRING:
      return rule.decimal ? encodeDecimal : (value) => encodeText(value as string);
    case ScalarType.BYTES:
      return (value) => `"${Buffer.from(value as Uint8Array).toString("base64")}"`;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      // JSON.stringify writes infinities, which JSON does not have, as null.
      return (value) => JSON.stringify(value);
    default:
      return String;
  }
}

function encodeDecimal(value: unknown): string {
  const text = value as string;
  if (!isDecimal(text)) throw new Error(`not a decimal: ${text}`);
  return text;
}

const SHORT_TEXT = 64;

/** Most strings are short and need no escapes; scanning them is faster than JSON.stringify. */
function encodeText(text: string): string {
  if (text.length > SHORT_TEXT) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x22 || code === 0x5c || code > 0xd7ff) return JSON.stringify(text);
  }
  return `"${text}"`;
}

function encodeTimestamp({ seconds, nanos }: Timestamp): string {
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
  return `"${formatTimestamp(ms)}"`;
}

/** With nine digits behind the seconds, or with milliseconds if the others are zero. */
function encodeNanoseconds(timestamp: Timestamp): string {
  const text = encodeTimestamp(timestamp);
  const nanos = timestamp.nanos % 1_000_000;
  return nanos === 0 ? text : text.replace("Z", `${String(nanos).padStart(6, "0")}Z`);
}
