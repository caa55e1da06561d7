import type { DescField, DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import {
  type Binding,
  compileCheck,
  compileSteps,
  createEncoders,
  type Encode,
  type EncodeInSteps,
  isSafeText,
  jsonNameOf,
  LIMITS,
  shapeOf,
} from "@scrip/contract";
import { invalidPayload, ApiError } from "@scrip/errors";
import { TimeRangeSchema } from "@scrip/proto/scrip/common/v1/list_pb";

import { DecodeError } from "./decode-error.ts";
import { createDecoders, type Draft, isObject, type MessageDecoder, toMessage } from "./decode.ts";
import { type ReaderLimits, readJson } from "./json-reader.ts";
import { decodePercent, parseQuery } from "./query.ts";

/** The parts of an HTTP request that are decoded into the message. */
export type RequestParts = {
  /** Values of the path parameters in order, still percent-encoded. */
  readonly path: readonly string[];
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Undefined or empty counts as `{}`. */
  readonly body: Buffer | undefined;
};

export type BoundTranscoder = {
  /**
   * Decodes and checks the request message; throws an ApiError that describes the first violation.
   */
  readonly decode: (parts: RequestParts) => Message;
  readonly encode: Encode;
  /** For responses that may be long. */
  readonly encodeInSteps: EncodeInSteps | undefined;
};

export type Transcoder = {
  readonly bind: (binding: Binding, limits?: ReaderLimits) => BoundTranscoder;
  readonly encoderOf: (desc: DescMessage) => Encode;
};

/** Compiles the conversion between HTTP and messages, once at start-up. */
export function createTranscoder(): Transcoder {
  const find = { json: createDecoders("json"), text: createDecoders("text") };
  const encoderOf = createEncoders();
  return {
    encoderOf,
    bind: (binding, limits = LIMITS) => ({
      decode: compileRequest({
        binding,
        limits,
        json: find.json(binding.method.input),
        text: find.text(binding.method.input),
        jsonOf: find.json,
      }),
      ...compileResponse(binding, encoderOf),
    }),
  };
}

function compileResponse(
  { method, responseBody }: Binding,
  encoderOf: ReturnType<typeof createEncoders>,
): Pick<BoundTranscoder, "encode" | "encodeInSteps"> {
  const encode = encoderOf(method.output);
  if (responseBody === undefined) {
    return { encode, encodeInSteps: compileSteps(method.output, encoderOf) };
  }
  // The list is the only field of the message: its document, without the object around it.
  const start = `{"${jsonNameOf(responseBody)}":`.length;
  return { encode: (message) => encode(message).slice(start, -1), encodeInSteps: undefined };
}

type Compiled = {
  readonly binding: Binding;
  readonly limits: ReaderLimits;
  readonly json: MessageDecoder;
  readonly text: MessageDecoder;
  /** Decoders of the messages below. */
  readonly jsonOf: (desc: DescMessage) => MessageDecoder;
};

function compileRequest(compiled: Compiled): BoundTranscoder["decode"] {
  const { binding, json, text } = compiled;
  const document = typeof binding.body === "object" ? binding.body : undefined;
  const check = compileCheck(binding.method.input, { fromJson: true, document });
  const pathFields = binding.segments.flatMap((each) =>
    each.kind === "field" ? [each.field] : [],
  );
  const inPath = new Set(pathFields.map(({ name }) => name));
  const isOwnQueryField = (name: string): boolean =>
    json.fields.get(name)?.field !== text.fields.get(name)?.field;
  const readBody = compileBody(compiled);
  const isList = shapeOf(binding.method.output).object === "list";
  const addMask = compileMask(compiled, inPath);
  const fillPath = compilePath(pathFields, text);
  return ({ path, query, body }) => {
    const sent = readBody(body);
    const draft = sent.draft;
    const isTaken = (name: string): boolean =>
      inPath.has(name) || (sent.has(name) && !isOwnQueryField(name));
    if (query !== "") fillFromQuery(draft, query, { isTaken, isList, text });
    fillPath(draft, path);
    addMask?.(draft, sent.keys());
    const message = toMessage(draft);
    const violation = check(message);
    if (violation !== undefined) {
      const inQuery = binding.body === "none" || isOfQuery(violation, query, { isTaken, text });
      throw inQuery ? invalidQuery(violation) : invalidPayload(violation);
    }
    return message;
  };
}

/** Whether the violation is of a field that was filled from the query. */
function isOfQuery(
  violation: string,
  query: string,
  { isTaken, text }: Pick<QueryContext, "isTaken" | "text">,
): boolean {
  const [, name] = /^Property \.(\w+) /.exec(violation) ?? [];
  if (name === undefined || isTaken(name)) return false;
  return Object.keys(parseQuery(query)).some((each) => fieldNameOf(each, text) === name);
}

/** The decoded body. Its fields take precedence over the query. */
type Sent = {
  readonly draft: Draft;
  /** Only update masks need them. */
  readonly keys: () => readonly string[];
  readonly has: (name: string) => boolean;
};

const hasNothing = (): boolean => false;
const noKeys = (): readonly string[] => [];

function compileBody({
  binding,
  limits,
  json,
  text,
}: Compiled): (body: Buffer | undefined) => Sent {
  const kind = binding.body;
  const nothing = (): Sent => ({ draft: json.empty(), keys: noKeys, has: hasNothing });
  if (kind === "none") return nothing;
  if (kind !== "all") return compileFieldBody(kind, json, limits);
  const read: (body: Buffer) => JsonValue = binding.access.form
    ? (body) => parseQuery(body.toString("latin1"), { unique: true })
    : (body) => readJson(body, limits);
  const decoder = binding.access.form ? text : json;
  return (body) => {
    if (body === undefined || body.length === 0) return nothing();
    try {
      const value = read(body);
      if (!isObject(value)) throw new DecodeError("must be object");
      return sentOf(decoder.fromObject(value), value);
    } catch (error) {
      throw toApiError(error);
    }
  };
}

function sentOf(draft: Draft, value: JsonObject): Sent {
  return {
    draft,
    keys: () => keysOf(value),
    has: (name) => value[name] !== undefined && value[name] !== null,
  };
}

/** The keys of an object, and paths of the keys one level below whose value is null; no field has a name with a dot. */
const keysOf = (value: JsonObject): readonly string[] =>
  Object.entries(value).flatMap(([key, each]) => {
    if (key.includes(".")) return [];
    if (!isObject(each)) return [key];
    const nulls = Object.keys(each).filter((name) => each[name] === null);
    return [key, ...nulls.map((name) => `${key}.${name}`)];
  });

/** Decodes a body that is one field of the request, such as a list of codes. */
function compileFieldBody(
  field: DescField,
  json: MessageDecoder,
  limits: ReaderLimits,
): (body: Buffer | undefined) => Sent {
  const entry = [...json.fields].find(([, each]) => each.field === field);
  if (entry === undefined) throw new Error(`${field.toString()} is internal and cannot be a body`);
  const [name, { fill }] = entry;
  return (body) => {
    const draft = json.empty();
    if (body === undefined || body.length === 0) return { draft, keys: noKeys, has: hasNothing };
    try {
      const value = readJson(body, limits);
      if (value !== null) fill(draft, value);
    } catch (error) {
      // The document is the field itself, so its name is not part of the path.
      if (error instanceof DecodeError) error.path = error.path.replace(`.${name}`, "");
      throw toApiError(error);
    }
    return { draft, keys: () => [name], has: (other) => other === name };
  };
}

type QueryContext = {
  readonly isTaken: (name: string) => boolean;
  readonly isList: boolean;
  readonly text: MessageDecoder;
};

function fillFromQuery(draft: Draft, query: string, { isTaken, isList, text }: QueryContext): void {
  try {
    const parameters = parseQuery(query);
    const filled = new Map<string, string>();
    for (const name of Object.keys(parameters)) {
      const fieldName = fieldNameOf(name, text);
      if (isTaken(fieldName)) continue;
      const value = parameters[name] ?? "";
      const entry = text.fields.get(fieldName);
      if (entry !== undefined) requireOneSpelling(name, fieldName, filled);
      if (isList && isObject(value)) requireFilter(name, value, entry?.field);
      else if (isList && name === "filters" && entry === undefined) throw unknownFilter(".filters");
      entry?.fill(draft, value);
    }
  } catch (error) {
    throw toQueryError(error);
  }
}

/** Client libraries of the leading system send some parameters in camel case, such as `assignmentId`. */
const fieldNameOf = (name: string, { fields }: MessageDecoder): string =>
  fields.has(name) ? name : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The second spelling would replace the first: of `createdAt[after]` and `created_at[before]`, one would be ignored. */
function requireOneSpelling(name: string, fieldName: string, filled: Map<string, string>): void {
  const earlier = filled.get(fieldName);
  if (earlier !== undefined) {
    throw new DecodeError(`must not have both '${earlier}' and '${name}'`);
  }
  filled.set(fieldName, name);
}

/** Ignoring a filter such as `filters[…]` or `created_at[after]` would list too much. */
function requireFilter(name: string, value: JsonObject, field: DescField | undefined): void {
  if (field === undefined) throw unknownFilter(`.${name}`);
  if (field.message?.typeName !== TimeRangeSchema.typeName) return;
  const operators = new Set(field.message.fields.map((operator) => operator.name));
  const unknown = Object.keys(value).find((operator) => !operators.has(operator));
  if (unknown !== undefined) throw unknownFilter(`.${name}.${unknown}`);
}

function unknownFilter(path: string): DecodeError {
  const error = new DecodeError("is not a filter of this list");
  error.path = path;
  return error;
}

/** Path parameters take precedence over body and query. */
function compilePath(
  fields: readonly DescField[],
  text: MessageDecoder,
): (draft: Draft, path: readonly string[]) => void {
  const fills = fields.map(({ name }) => {
    const entry = text.fields.get(name);
    if (entry === undefined) throw new Error(`the path field ${name} is internal`);
    return entry.fill;
  });
  return (draft, path) => {
    try {
      for (const [index, fill] of fills.entries()) fill(draft, decodeSegment(path[index] ?? ""));
    } catch (error) {
      throw toApiError(error);
    }
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodePercent(segment);
  } catch (error) {
    if (error instanceof DecodeError) throw new DecodeError(`has a path that ${error.text}`);
    throw error;
  }
}

/**
 * Fills the update mask with the fields that were sent, so that null and absent differ, also one level below. Path
 * fields may be repeated in the body and are ignored there.
 */
function compileMask(
  { binding, json, jsonOf }: Compiled,
  inPath: ReadonlySet<string>,
): ((draft: Draft, keys: readonly string[]) => void) | undefined {
  const mask = binding.method.input.fields.find(({ name, message }) => {
    return name === "update_mask" && message?.typeName === "google.protobuf.FieldMask";
  });
  if (mask === undefined) return undefined;
  const names = new Map<string, string>();
  for (const [key, { field }] of json.fields) {
    if (inPath.has(field.name)) continue;
    names.set(key, field.name);
    if (field.fieldKind !== "message" || field.message.file.proto.package === "google.protobuf") {
      continue;
    }
    for (const [below, entry] of jsonOf(field.message).fields) {
      names.set(`${key}.${below}`, `${field.name}.${entry.field.name}`);
    }
  }
  return (draft, keys) => {
    const paths = keys.map((key) => names.get(key)).filter((name) => name !== undefined);
    draft[mask.localName] = { $typeName: "google.protobuf.FieldMask", paths };
  };
}

function toApiError(error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  return new ApiError(error.key ?? "invalid_payload", { details: safeDetails(error.details) });
}

function toQueryError(error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  const details = error.path === "" ? `Query ${error.text}` : error.details;
  return invalidQuery(safeDetails(details));
}

function invalidQuery(details: string): ApiError {
  return new ApiError("invalid_query_params", { details });
}

/** Details may quote any input, so they are shortened and cleaned for responses and logs. */
function safeDetails(details: string): string {
  const text = details.length > 500 ? `${details.slice(0, 500)}…` : details;
  return isSafeText(text) ? text : text.toWellFormed().replaceAll("\0", "\uFFFD");
}
