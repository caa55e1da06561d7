import { toErrorResponse } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";

/**
 * Whether a batch may have failed because of one of its items. An outage is nobody's fault, and asking
 * again for each item would only make it longer.
 */
export const mayBeOneBadItem = (error: unknown): boolean =>
  !isUnavailable(error) && toErrorResponse(error, "").error.key === "internal_error";
