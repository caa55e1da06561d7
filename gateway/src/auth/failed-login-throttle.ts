import { ApiError } from "@scrip/errors";

import type { RateLimits } from "../limits/rate-limits.ts";
import type { FailedLoginThrottle } from "./authenticate.ts";
import { limitAddress } from "./ip-addresses.ts";

/** Blocks an address that failed too often within a minute before any lookup. */
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
