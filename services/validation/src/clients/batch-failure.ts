import { toErrorResponse } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";

/**
 * Whether a single item may have made the whole batch fail. After an outage, retrying each item
 * alone would only prolong it.
 */
export const mayBeOneBadItem = (error: unknown): boolean =>
  !isUnavailable(error) && toErrorResponse(error, "").error.key === "internal_error";
