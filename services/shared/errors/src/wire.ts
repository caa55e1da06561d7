import { Code, ConnectError } from "@connectrpc/connect";
import { type Error as ErrorMessage, ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import { ApiError, errorToProto } from "./api-error.ts";
import { grpcCodeOf, isErrorKey } from "./catalogue.ts";

/** An error as it is answered: the Error object, and the key to what may be logged beside it. */
export type ErrorResponse = {
  readonly error: ErrorMessage;
  /** A bug or an outage, not a refusal: to be logged with its cause. */
  readonly unexpected: boolean;
};

/**
 * Turns whatever was thrown, here or in a service called over gRPC, into the Error object. What is
 * neither a refusal nor a known outage loses its message: it may hold anything.
 */
export function toErrorResponse(thrown: unknown, requestId: string): ErrorResponse {
  if (thrown instanceof ApiError) {
    return { error: errorToProto(thrown, requestId), unexpected: false };
  }
  if (thrown instanceof ConnectError) {
    const detail = thrown.findDetails(ErrorSchema)[0];
    if (detail !== undefined) {
      return {
        error: detail.requestId === "" ? { ...detail, requestId } : detail,
        unexpected: false,
      };
    }
    const outage = outageOf(thrown.code);
    if (outage !== undefined) {
      return { error: errorToProto(new ApiError(outage), requestId), unexpected: true };
    }
  }
  return { error: errorToProto(new ApiError("internal_error"), requestId), unexpected: true };
}

/** What crosses a gRPC connection: the status, and the Error object as its detail. */
export function toConnectError(thrown: unknown, requestId: string): ConnectError {
  const { error } = toErrorResponse(thrown, requestId);
  const code = isErrorKey(error.key) ? grpcCodeOf(error.key) : Code.Unknown;
  return new ConnectError(
    error.message,
    code,
    undefined,
    [{ desc: ErrorSchema, value: error }],
    thrown,
  );
}

/** Refuses with an Error object that is there already, such as a stored one: word for word. */
export function errorFromProto(error: ErrorMessage): ConnectError {
  const code = isErrorKey(error.key) ? grpcCodeOf(error.key) : Code.FailedPrecondition;
  return new ConnectError(error.message, code, undefined, [{ desc: ErrorSchema, value: error }]);
}

function outageOf(
  code: Code,
): "service_unavailable" | "deadline_exceeded" | "payload_too_large" | undefined {
  // What a connection says that breaks under a call, because the service behind it was killed.
  if (code === Code.Unavailable || code === Code.Aborted) return "service_unavailable";
  if (code === Code.DeadlineExceeded || code === Code.Canceled) return "deadline_exceeded";
  if (code === Code.ResourceExhausted) return "payload_too_large";
  return undefined;
}
