import { isRetryable, isUnavailable } from "@scrip/postgres";

// gRPC codes: deadline exceeded, resource exhausted, aborted, unavailable.
const PASSING_RPC_CODES = new Set([4, 8, 10, 14]);

/** Whether an error is transient: a lock, a restart, an unavailable service. */
export function isTransient(error: unknown): boolean {
  if (isRetryable(error) || isUnavailable(error)) return true;
  if (!(error instanceof Error) || error.name !== "ConnectError") return false;
  return "code" in error && typeof error.code === "number" && PASSING_RPC_CODES.has(error.code);
}
