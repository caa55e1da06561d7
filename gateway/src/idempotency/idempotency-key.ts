import { createHash, hash } from "node:crypto";

import { ApiError } from "@scrip/errors";

const MAX_KEY_LENGTH = 255;

/** The value of Idempotency-Key, or undefined without the header. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && header.length > 0 && header.length <= MAX_KEY_LENGTH) {
    return header;
  }
  throw new ApiError("invalid_idempotency_key", {
    details: `Header Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`,
  });
}

/**
 * Scopes the key to application, method and path, without a trailing slash. Hashed, because a path
 * may be longer than an index entry.
 */
export function scopeKey(
  request: { readonly appId: string; readonly method: string; readonly path: string },
  key: string,
): string {
  const path = request.path.replace(/\/$/, "");
  return `${request.appId}:${hash("sha256", `${request.method}\n${path}\n${key}`, "base64url")}`;
}

/** SHA-256 of the request; the order of JSON keys does not matter. */
export function hashRequest(request: {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Valid JSON: the JSON reader has checked it. */
  readonly body: Buffer | undefined;
}): Buffer {
  const body: unknown = request.body === undefined ? {} : JSON.parse(request.body.toString());
  return createHash("sha256")
    .update(`${request.method}\n${request.path.replace(/\/$/, "")}\n${request.query}\n`)
    .update(canonical(body))
    .digest();
}

/** JSON with sorted keys. The JSON reader has bounded the depth. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const members = Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}
