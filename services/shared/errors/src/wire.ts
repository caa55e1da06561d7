import { Code, ConnectError } from "@connectrpc/connect";
import { type Error as ErrorMessage, ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

import { ApiError, errorToProto } from "./api-error.ts";
import { grpcCodeOf, isErrorKey } from "./catalogue.ts";

/** An error as the API returns it, and whether it must be logged. */
export type ErrorResponse = {
  readonly error: ErrorMessage;
  /** A bug or an outage, not an API error: log it with its cause. */
  readonly unexpected: boolean;
};

/**
 * Converts anything thrown, here or in a service called over gRPC, to the Error message. Unexpected
 * errors lose their own message, which may contain anything.
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

/** The gRPC error: the status, with the Error message as its detail. */
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

/** The gRPC error of an existing Error message, such as a stored one, unchanged. */
export function errorFromProto(error: ErrorMessage): ConnectError {
  const code = isErrorKey(error.key) ? grpcCodeOf(error.key) : Code.FailedPrecondition;
  return new ConnectError(error.message, code, undefined, [{ desc: ErrorSchema, value: error }]);
}

function outageOf(
  code: Code,
): "service_unavailable" | "deadline_exceeded" | "payload_too_large" | undefined {
  // The codes of a connection that breaks during a call because the service was killed.
  if (code === Code.Unavailable || code === Code.Aborted) return "service_unavailable";
  if (code === Code.DeadlineExceeded || code === Code.Canceled) return "deadline_exceeded";
  if (code === Code.ResourceExhausted) return "payload_too_large";
  return undefined;
}
