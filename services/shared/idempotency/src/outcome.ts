import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { ApiError, errorFromProto, toErrorResponse } from "@scrip/errors";
import { type Error as ErrorMessage, ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import type { Outcome, RequestKey } from "./stored-requests.ts";

const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 422]);

/** Conflicts with concurrent requests. They are not stored: a retry is executed, and may succeed. */
const RETRYABLE: ReadonlySet<string> = new Set([
  "idempotency_in_progress",
  "idempotency_key_reused",
  "multiple_requests",
]);

/**
 * The Error message of an error that is stored, so that every retry gets it; undefined for an error after which a retry
 * is executed.
 */
export function finalErrorOf(thrown: unknown, requestId: string): ErrorMessage | undefined {
  const { error, unexpected } = toErrorResponse(thrown, requestId);
  if (unexpected || !FINAL_STATUSES.has(error.code) || RETRYABLE.has(error.key)) return undefined;
  return error;
}

/** An outcome, with the error that this attempt ended with. */
export type AttemptOutcome = Outcome & { readonly thrown?: unknown };

/** The outcome to store for an error; undefined for an error that is not stored. */
export function finalError(thrown: unknown, requestId: string): AttemptOutcome | undefined {
  const error = finalErrorOf(thrown, requestId);
  return error && { kind: "error", error: toBinary(ErrorSchema, error), thrown };
}

export const responseOutcome = (schema: DescMessage, message: Message): Outcome => ({
  kind: "response",
  message: toBinary(schema, message),
});

/** Returns the outcome to the caller, in the same form for the first request and its retries. Throws a stored error. */
export function deliver(schema: DescMessage, outcome: AttemptOutcome): Message {
  if (outcome.kind === "error") {
    throw outcome.thrown ?? errorFromProto(fromBinary(ErrorSchema, outcome.error));
  }
  return fromBinary(schema, outcome.message);
}

/** Rejects a key that was used with another request. */
export function requireSameRequest(stored: Uint8Array, { requestHash }: RequestKey): void {
  if (Buffer.compare(stored, requestHash) !== 0) {
    throw new ApiError("idempotency_key_reused");
  }
}
