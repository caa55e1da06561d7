import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { httpMethodsOf } from "@scrip/contract";

import type { Call } from "../call/call.ts";
import { NOT_CONNECTED } from "./sessions.ts";

/**
 * `unsent`: the server has not begun with the call. `lost`: it may have, and the connection broke. `late`: the deadline has
 * passed. `responded`: the error is its response.
 */
export type CallFailure = "unsent" | "lost" | "late" | "responded" | "caller_left";

/** Codes of Node and HTTP/2 for connections that could not be opened or took no further calls. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ERR_HTTP2_GOAWAY_SESSION",
  NOT_CONNECTED,
]);
const REFUSED_STREAM = /REFUSED_STREAM/;

export function failureOf(error: unknown, signal: AbortSignal | undefined): CallFailure {
  const thrown = ConnectError.from(error);
  // Scrip's services describe each error in a detail.
  if (thrown.details.length > 0) return "responded";
  if (signal?.aborted === true) return "caller_left";
  if (causesOf(thrown).some(isUnsent)) return "unsent";
  if (thrown.code === Code.DeadlineExceeded) return "late";
  return LOST.has(thrown.code) ? "lost" : "responded";
}

/** What the client reports when a connection breaks. */
const LOST: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Aborted,
  Code.Canceled,
  Code.Internal,
]);

function isUnsent(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return (typeof code === "string" && UNSENT_CODES.has(code)) || REFUSED_STREAM.test(error.message);
}

function causesOf(error: Error): readonly Error[] {
  const causes: Error[] = [];
  for (let each: unknown = error; each instanceof Error && !causes.includes(each);) {
    causes.push(each);
    each = each.cause;
  }
  return causes;
}

/**
 * Whether a second execution has no other effect than one: the call reads only, or its service stores the
 * response under the key.
 */
export const isRepeatable = (method: DescMethod, call: Pick<Call, "idempotency"> | undefined) =>
  call?.idempotency !== undefined || isSafe(method);

const safe = new Map<DescMethod, boolean>();

function isSafe(method: DescMethod): boolean {
  const known = safe.get(method);
  if (known !== undefined) return known;
  const verbs = httpMethodsOf(method);
  const found =
    method.idempotency === Level.NO_SIDE_EFFECTS ||
    method.idempotency === Level.IDEMPOTENT ||
    (verbs.length > 0 && verbs.every((verb) => verb === "GET"));
  safe.set(method, found);
  return found;
}
