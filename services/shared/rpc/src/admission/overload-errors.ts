import { ApiError } from "@scrip/errors";

// Created once: under overload, capturing a stack trace for each would cost more than the rest of a rejection.

export const PROJECT_BUSY = new ApiError("too_many_requests", {
  details: "Too many concurrent requests of this project; try again",
});

export const PROCESS_BUSY = new ApiError("service_unavailable", {
  details: "Too many concurrent requests; try again",
});

export const PROJECT_UNSENT = new ApiError("too_many_requests", {
  details: "Earlier responses of this project have not been received; try again",
});

export const PROCESS_UNSENT = new ApiError("service_unavailable", {
  details: "Too many responses are being sent; try again",
});

const OVERLOAD_ERRORS: ReadonlySet<unknown> = new Set([
  PROJECT_BUSY,
  PROCESS_BUSY,
  PROJECT_UNSENT,
  PROCESS_UNSENT,
]);

/** Whether admission rejected the request. */
export const isOverloadError = (error: unknown): boolean => OVERLOAD_ERRORS.has(error);
