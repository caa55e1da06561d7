import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence, ValueSchema } from "@bufbuild/protobuf/wkt";
import { jsonNameOf, ruleOf, shapeOf } from "@scrip/contract";
import { isErrorKey } from "@scrip/errors";
import type { Rule } from "@scrip/proto/scrip/options/v1/options_pb";

import { DecodeError, within } from "./decode-error.ts";
import {
  compileEnum,
  compileScalar,
  type Decode,
  timestampDecoder,
  expected,
  type Mode,
} from "./decode-scalar.ts";

/** A message while it is being built; protobuf-es accepts plain objects with `$typeName`. */
export type Draft = Record<string, unknown>;

/** Decodes one JSON value into a draft; the caller has handled null and absent values. */
export type Fill = (draft: Draft, value: JsonValue) => void;

export type MessageDecoder = {
  readonly fromObject: (value: JsonObject) => Draft;
  /** Present where a string may be sent instead of the message. */
  readonly fromText: ((value: string) => Draft) | undefined;
  /** An empty message with all defaults. */
  readonly empty: () => Draft;
  /** By JSON name, without internal fields. */
  readonly fields: ReadonlyMap<string, { readonly field: DescField; readonly fill: Fill }>;
};

/** Compiles the decoder of each message once; messages may be recursive. */
export function createDecoders(mode: Mode): (desc: DescMessage) => MessageDecoder {
  const compiled = new Map<DescMessage, MessageDecoder>();
  const find = (desc: DescMessage): MessageDecoder => {
    const known = compiled.get(desc);
    if (known !== undefined) return known;
    const fields = new Map<string, { field: DescField; fill: Fill }>();
    const decoder = compileMessage(desc, fields);
    // Registered before its fields are compiled: a message may contain itself.
    compiled.set(desc, decoder);
    for (const field of desc.fields) {
      if (ruleOf(field).internal) continue;
      const name = jsonNameOf(field);
      // A field of the query may have the name of a field of the body.
      if (fields.has(name) && ruleOf(field).inQuery !== (mode === "text")) continue;
      fields.set(name, { field, fill: compileField(field, { mode, find }) });
    }
    return decoder;
  };
  return find;
}

function compileMessage(desc: DescMessage, fields: MessageDecoder["fields"]): MessageDecoder {
  const empty = compileEmpty(desc);
  return {
    fromObject: (value) => {
      const draft = empty();
      fillFrom(draft, value, fields);
      return draft;
    },
    fromText: compileScalarForm(desc, empty),
    empty,
    fields,
  };
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Unknown keys are ignored; null is absent. */
function fillFrom(draft: Draft, value: JsonObject, fields: MessageDecoder["fields"]): void {
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === null || item === undefined) continue;
    fields.get(key)?.fill(draft, item);
  }
}

/**
 * Creates messages with the defaults of protobuf-es: zero values, empty lists and maps, no optional
 * fields. Spreading a template is several times faster than `create`.
 */
function compileEmpty(desc: DescMessage): () => Draft {
  const template: Draft = { $typeName: desc.typeName };
  const lists: string[] = [];
  const groups: string[] = desc.oneofs.map(({ localName }) => localName);
  for (const field of desc.fields) {
    if (field.fieldKind === "list" || field.fieldKind === "map") {
      template[field.localName] = undefined;
      if (field.fieldKind === "list") lists.push(field.localName);
    } else if (field.presence === FeatureSet_FieldPresence.IMPLICIT && field.oneof === undefined) {
      template[field.localName] = defaultOf(field);
    }
  }
  for (const group of groups) template[group] = undefined;
  const maps = desc.fields.filter(({ fieldKind }) => fieldKind === "map");
  return () => {
    const draft = { ...template };
    for (const name of lists) draft[name] = [];
    for (const { localName } of maps) draft[localName] = {};
    for (const name of groups) draft[name] = { case: undefined };
    return draft;
  };
}

function defaultOf(field: DescField): unknown {
  if (field.fieldKind === "enum") return 0;
  if (field.fieldKind !== "scalar") throw new Error(`${field.toString()} has no default`);
  return scalarZeroValue(field.scalar, false);
}

/** Reads a string as a message: into `id` when it has the id prefix, else into the scalar field. */
function compileScalarForm(
  desc: DescMessage,
  empty: () => Draft,
): ((value: string) => Draft) | undefined {
  const { scalarField, scalarIdPrefix } = shapeOf(desc);
  if (scalarField === "") return undefined;
  const field = desc.fields.find(({ name }) => name === scalarField);
  if (field === undefined) throw new Error(`${desc.typeName} has no field ${scalarField}`);
  return (value) => {
    const isId = scalarIdPrefix !== "" && value.startsWith(scalarIdPrefix);
    return { ...empty(), [isId ? "id" : field.localName]: value };
  };
}

type Context = { readonly mode: Mode; readonly find: (desc: DescMessage) => MessageDecoder };

function compileField(field: DescField, context: Context): Fill {
  const rule = ruleOf(field);
  const segment = `.${jsonNameOf(field)}`;
  const { localName, oneof } = field;
  const key = isErrorKey(rule.errorKey) ? rule.errorKey : undefined;
  const decode = compileValue(field, rule, context);
  const isOptionalText = context.mode === "text" && field.fieldKind !== "list";
  const fill: Fill = (draft, value) => {
    // An empty parameter, such as `limit=`, is absent.
    if (isOptionalText && value === "") return;
    try {
      draft[localName] = decode(value);
    } catch (error) {
      if (key !== undefined && error instanceof DecodeError && isNumeric(value)) error.key = key;
      throw within(error, segment);
    }
  };
  if (oneof === undefined) return fill;
  return (draft, value) => {
    const group = draft[oneof.localName] as { case?: string };
    if (group.case !== undefined)
      throw within(new DecodeError("excludes another property"), segment);
    const held: Draft = {};
    fill(held, value);
    draft[oneof.localName] = { case: localName, value: held[localName] };
  };
}

const isNumeric = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && /^-?[\d.]+$/.test(value));

function compileValue(field: DescField, rule: Rule, context: Context): Decode {
  switch (field.fieldKind) {
    case "list":
      return listDecoder(compileSingle(field, rule, context), rule, context.mode);
    case "map":
      return mapDecoder(compileSingle(field, rule, context), rule);
    default:
      return compileSingle(field, rule, context);
  }
}

function compileSingle(field: DescField, rule: Rule, context: Context): Decode {
  if (field.enum !== undefined) return compileEnum(field.enum);
  if (field.message === undefined) return compileScalar(field.scalar, rule, context.mode);
  switch (field.message.typeName) {
    case "google.protobuf.Timestamp":
      return timestampDecoder(rule);
    case "google.protobuf.Struct":
      return (value) => {
        if (!isObject(value)) throw new DecodeError(expected("object", rule));
        return value;
      };
    case "google.protobuf.Value":
      return (value) => fromJson(ValueSchema, value);
    default: {
      const decoder = context.find(field.message);
      const mismatch = expected("object", rule);
      return (value) => {
        if (isObject(value)) return decoder.fromObject(value);
        if (typeof value === "string" && decoder.fromText !== undefined) {
          return decoder.fromText(value);
        }
        throw new DecodeError(mismatch);
      };
    }
  }
}

function listDecoder(decode: Decode, rule: Rule, mode: Mode): Decode {
  const { minItems } = rule;
  return (value) => {
    // A single parameter is a list of one.
    const items = mode === "text" && typeof value === "string" ? [value] : value;
    if (!Array.isArray(items)) throw new DecodeError(expected("array", rule));
    // Protobuf does not distinguish an empty list from an absent one, so the minimum is checked
    // here.
    if (items.length === 0 && minItems !== undefined && minItems > 0) {
      throw new DecodeError(`must NOT have fewer than ${minItems} items`);
    }
    return items.map((item, index) => {
      try {
        if (item === null) throw new DecodeError("must not be null");
        return decode(item);
      } catch (error) {
        throw within(error, `[${index}]`);
      }
    });
  };
}

function mapDecoder(decode: Decode, rule: Rule): Decode {
  return (value) => {
    if (!isObject(value)) throw new DecodeError(expected("object", rule));
    const entries: Draft = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === null) continue;
      try {
        entries[key] = decode(item);
      } catch (error) {
        throw within(error, `.${key}`);
      }
    }
    return entries;
  };
}

/** A draft is a message once all its fields are decoded. */
export function toMessage(draft: Draft): Message {
  return draft as unknown as Message;
}
