import type { JsonValue } from "@bufbuild/protobuf";

import type { Definition } from "./metadata-types.ts";

/**
 * The value of a CSV cell by the type of its key: numbers, booleans and JSON objects are parsed, arrays are separated by
 * commas. A text that does not have the type stays a text, which the check of the schema then rejects.
 */
export function readCell(text: string, definition: Definition | undefined): JsonValue {
  if (definition === undefined) return text;
  if (!definition.array) return readOne(text, definition);
  if (text.startsWith("[")) return parsed(text) ?? text;
  return text.split(",").map((each) => readOne(each.trim(), definition));
}

function readOne(text: string, { type }: Definition): JsonValue {
  switch (type) {
    case "number": {
      const number = Number(text);
      return text.trim() !== "" && Number.isFinite(number) ? number : text;
    }
    case "boolean":
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : text;
    case "object":
    case "nested":
      return parsed(text) ?? text;
    default:
      return text;
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text, requireStorable) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Escapes in JSON may name characters that PostgreSQL does not store. */
function requireStorable(key: string, value: unknown): unknown {
  for (const text of [key, value]) {
    if (typeof text === "string" && (text.includes("\0") || !text.isWellFormed()))
      throw new Error("a character that cannot be stored");
  }
  return value;
}
