import { ApiError } from "@scrip/errors";

import type { RateLimits } from "../limits/rate-limits.ts";
import type { FailedLoginThrottle } from "./authenticate.ts";
import { limitAddress } from "./ip-addresses.ts";

/** Whoever fails too often within a minute waits for the next one, before anything is looked up. */
export function createFailedLoginThrottle(limits: RateLimits): FailedLoginThrottle {
  return {
    async check(address) {
      const allowance = await limits.failedLogins(limitAddress(address));
      if (allowance !== undefined && allowance.remaining === 0) {
        throw new ApiError("too_many_requests", { details: "Too many failed credentials" });
      }
    },
    count(address) {
      void limits.countFailedLogin(limitAddress(address));
    },
  };
}
