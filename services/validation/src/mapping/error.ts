import { isErrorKey, ApiError, errorToProto } from "@scrip/errors";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

import type { Rejection } from "../domain/rejections/rejection.ts";

export function rejectionToProto({ key, ...options }: Rejection, requestId: string): ErrorMessage {
  return errorToProto({ key, options }, requestId);
}

/** A rejection that ends the request. */
export function rejectionToApiError({ key, ...options }: Rejection): ApiError {
  return new ApiError(key, options);
}

/** The error of a commit as a rejection to decide with. */
export function rejectionFromProto({
  key,
  message,
  details,
  error,
}: ErrorMessage): Rejection | undefined {
  if (!isErrorKey(key)) return undefined;
  return { key, message, details, customMessage: error?.message };
}
