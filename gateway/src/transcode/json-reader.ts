import { isUtf8 } from "node:buffer";

import type { JsonValue } from "@bufbuild/protobuf";
import { isSafeText, LIMITS } from "@scrip/contract";

import { DecodeError } from "./decode-error.ts";

export type ReaderLimits = { readonly depth: number; readonly nodes: number };

/**
 * Reads JSON from clients. Accepts only what every component can store and return: UTF-8, no NUL,
 * no lone surrogates, finite numbers, unique keys, bounded depth and size. A linear scan of the
 * bytes runs before the parser.
 */
export function readJson(body: Buffer, limits: ReaderLimits = LIMITS): JsonValue {
  if (!isUtf8(body)) throw new DecodeError("must be valid UTF-8");
  const members = countMembers(body, limits);
  const text = body.toString("utf8");
  const value = parse(text);
  const walk: Walk = { members: 0, checkText: text.includes("\\u") };
  inspect(value, walk);
  // The parser keeps the last of repeated keys, so repeated keys show as missing members.
  if (walk.members !== members) throw new DecodeError("must not repeat a property");
  return value;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DecodeError(`must be valid JSON: ${error.message}`);
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Bounds depth and size, and returns the number of members in all objects. */
function countMembers(body: Buffer, limits: ReaderLimits): number {
  let depth = 0;
  let nodes = 1;
  let members = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case QUOTE:
        at = endOfString(body, at);
        break;
      case COLON:
        members += 1;
        break;
      // Each value of a container except the first follows a comma.
      case COMMA:
        nodes += 1;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        nodes += 1;
        if (depth > limits.depth) {
          throw new DecodeError(`must not be nested deeper than ${limits.depth} levels`);
        }
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      default:
    }
    if (nodes > limits.nodes)
      throw new DecodeError(`must NOT have more than ${limits.nodes} values`);
  }
  return members;
}

/** Index of the closing quote; past the end when it is missing, which the parser then reports. */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

type Walk = { members: number; readonly checkText: boolean };

/** Checks parsed values; the depth is already bounded. */
function inspect(value: JsonValue, walk: Walk): void {
  if (typeof value === "string") {
    // Only \u escapes can produce surrogates and NUL: UTF-8 contains no surrogates, and JSON
    // forbids a raw NUL.
    if (walk.checkText) rejectUnsafeText(value);
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new DecodeError("must not have numbers out of range");
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      walk.members += 1;
      if (walk.checkText) rejectUnsafeText(key);
      const item = value[key] as JsonValue;
      rejectPrototypeKeys(key, item);
      inspect(item, walk);
    }
  }
}

function rejectUnsafeText(text: string): void {
  if (!isSafeText(text)) throw new DecodeError("must not contain NUL or lone surrogates");
}

/** Rejects keys that can pollute prototypes in code that merges objects. */
function rejectPrototypeKeys(key: string, value: JsonValue): void {
  const hostile =
    key === "__proto__" ||
    (key === "constructor" &&
      typeof value === "object" &&
      value !== null &&
      Object.hasOwn(value, "prototype"));
  if (hostile) throw new DecodeError(`must not have the property '${key}'`);
}
