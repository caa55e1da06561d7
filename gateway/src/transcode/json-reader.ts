import { isUtf8 } from "node:buffer";

import type { JsonValue } from "@bufbuild/protobuf";
import { isSafeText, LIMITS } from "@scrip/contract";

import { DecodeError } from "./decode-error.ts";

export type ReaderLimits = { readonly depth: number; readonly nodes: number };

/**
 * The one reader of JSON that comes from outside. It takes only what every part behind it can store
 * and give back: UTF-8, no NUL, whole surrogate pairs, finite numbers, each key once, bounded depth
 * and size. A linear scan of the bytes comes first, so that nothing hostile reaches the parser.
 */
export function readJson(body: Buffer, limits: ReaderLimits = LIMITS): JsonValue {
  if (!isUtf8(body)) throw new DecodeError("must be valid UTF-8");
  const members = countMembers(body, limits);
  const text = body.toString("utf8");
  const value = parse(text);
  const walk: Walk = { members: 0, checkText: text.includes("\\u") };
  inspect(value, walk);
  // Of a repeated key the parser keeps only the last one, so that fewer members come out than went in.
  if (walk.members !== members) throw new DecodeError("must NOT repeat a property");
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

/** Bounds depth and size, and answers how many members all objects have together. */
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
      // Each value but the first of its container comes after a comma.
      case COMMA:
        nodes += 1;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        nodes += 1;
        if (depth > limits.depth) {
          throw new DecodeError(`must NOT be nested deeper than ${limits.depth} levels`);
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

/** Where the closing quote stands; past the end when there is none, which the parser then says. */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

type Walk = { members: number; readonly checkText: boolean };

/** Visits what was parsed; its depth is already bounded. */
function inspect(value: JsonValue, walk: Walk): void {
  if (typeof value === "string") {
    // Raw text is clean: UTF-8 holds no surrogates and JSON no raw NUL. Only \u escapes bring them.
    if (walk.checkText) refuseUnsafe(value);
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new DecodeError("must NOT have numbers out of range");
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) {
      walk.members += 1;
      if (walk.checkText) refuseUnsafe(key);
      const item = value[key] as JsonValue;
      refuseHostile(key, item);
      inspect(item, walk);
    }
  }
}

function refuseUnsafe(text: string): void {
  if (!isSafeText(text)) throw new DecodeError("must NOT contain NUL or lone surrogates");
}

/** Keys that pollute prototypes where somebody merges documents carelessly. */
function refuseHostile(key: string, value: JsonValue): void {
  const hostile =
    key === "__proto__" ||
    (key === "constructor" &&
      typeof value === "object" &&
      value !== null &&
      Object.hasOwn(value, "prototype"));
  if (hostile) throw new DecodeError(`must NOT have the property '${key}'`);
}
