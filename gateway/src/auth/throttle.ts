import { ApiError } from "@scrip/errors";

import type { Limits } from "../limits/limits.ts";
import { limitAddress } from "./addresses.ts";
import type { FailureThrottle } from "./authenticate.ts";

/** Whoever fails too often within a minute waits for the next one, before anything is looked up. */
export function createThrottle(limits: Limits): FailureThrottle {
  return {
    async check(address) {
      const allowance = await limits.failures(limitAddress(address));
      if (allowance !== undefined && allowance.remaining === 0) {
        throw new ApiError("too_many_requests", { details: "Too many failed credentials" });
      }
    },
    count(address) {
      void limits.failure(limitAddress(address));
    },
  };
}
