import { ApiError } from "@scrip/errors";

import { ApiErrorWithHeaders } from "../http/error-response.ts";
import { retryAfterSeconds } from "../limits/rate-limit-headers.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { LookupLane } from "./credential-lookups.ts";
import { limitAddress } from "./ip-addresses.ts";

/**
 * Counts failed logins per address and per key id, and returns the error of each: 401, or 429 once
 * either had too many within a minute (docs/rate-limits.md#failed-logins). Valid credentials are never
 * counted, so a caller cannot lock out others behind the same address.
 */
export type FailedLoginThrottle = (address: string, keyId: string | undefined) => Promise<ApiError>;

export const createFailedLoginThrottle =
  (limits: RateLimits): FailedLoginThrottle =>
  async (address, keyId) => {
    const addressCount = await limits.countFailedLogin(ofAddress(address));
    // Each counter takes memory for a minute. Beyond its limit an address starts no more of them, or
    // made-up key ids would fill the process.
    const keyCount =
      keyId === undefined || addressCount?.exhausted === true
        ? undefined
        : await limits.countFailedLogin(ofKey(keyId));
    const counts = [addressCount, keyCount];
    const exhausted = counts.filter((count) => count?.exhausted === true);
    if (exhausted.length === 0) return new ApiError("unauthorized");
    const seconds = Math.max(...exhausted.map((count) => (count ? retryAfterSeconds(count) : 1)));
    return new ApiErrorWithHeaders(
      "too_many_requests",
      { details: "Too many failed logins of this address or key" },
      ["Retry-After", String(seconds)],
    );
  };

/** The lane of a lookup: `suspect` once the address or the key id had too many failed logins. */
export const createLaneChoice =
  (limits: Pick<RateLimits, "hasExhaustedLogins">) =>
  async (address: string, keyId: string): Promise<LookupLane> => {
    const isSuspect =
      (await limits.hasExhaustedLogins(ofAddress(address))) ||
      (await limits.hasExhaustedLogins(ofKey(keyId)));
    return isSuspect ? "suspect" : "normal";
  };

const ofAddress = (address: string): string => `address ${limitAddress(address)}`;
const ofKey = (keyId: string): string => `key ${keyId}`;
