import { isLockTimeout, isUnavailable } from "@scrip/postgres";

/**
 * Of statements that members in a process share. When one fails, they run alone, so that a row that is locked, or a batch
 * that cannot be read, stops no other member. A database that does not respond fails all of them.
 */
export const SHARED_STATEMENTS = {
  lanes: 2,
  maxBatch: 100,
  isBadItem: (error: unknown): boolean => isLockTimeout(error) || !isUnavailable(error),
} as const;
