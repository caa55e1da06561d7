import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { Violation } from "./violation.ts";

/** Bounds of every document that reaches a service, over HTTP or gRPC. */
export const LIMITS = { depth: 32, nodes: 10_000 } as const;

/** Postgres stores neither NUL nor lone surrogates, so no text may contain them. */
export function isSafeText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Applies the bounds of the strict JSON reader to a Struct that arrived over gRPC. */
export function structViolation(struct: JsonObject): Violation | undefined {
  const budget = { nodes: LIMITS.nodes };
  const text = visit(struct, 1, budget);
  return text === undefined ? undefined : { path: "", text };
}

function visit(value: JsonValue, depth: number, budget: { nodes: number }): string | undefined {
  budget.nodes -= 1;
  if (budget.nodes < 0) return `must NOT have more than ${LIMITS.nodes} values`;
  if (typeof value === "string") return isSafeText(value) ? undefined : UNSAFE_TEXT;
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : "must hold finite numbers";
  if (value === null || typeof value === "boolean") return undefined;
  if (depth > LIMITS.depth) return `must not be nested deeper than ${LIMITS.depth} levels`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const text = visit(item, depth + 1, budget);
      if (text !== undefined) return text;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (!isSafeText(key)) return UNSAFE_TEXT;
    if (isHostileKey(key, item)) return `must not have the property '${key}'`;
    const text = visit(item, depth + 1, budget);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Keys that pollute prototypes when code merges documents carelessly. */
export function isHostileKey(key: string, value: JsonValue): boolean {
  if (key === "__proto__") return true;
  return (
    key === "constructor" &&
    typeof value === "object" &&
    value !== null &&
    Object.hasOwn(value, "prototype")
  );
}

export const UNSAFE_TEXT = "must not contain NUL or lone surrogates";
