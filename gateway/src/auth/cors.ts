import { ApiError } from "@scrip/errors";

import type { Principal } from "./principal.ts";

/**
 * Restricts a client key to trusted origins. Only browsers send a truthful Origin, so this protects
 * against other web sites and is not authentication.
 */
export function checkOrigin(principal: Principal, origin: string | undefined): void {
  if (origin !== undefined && principal.trusts(origin)) return;
  throw new ApiError("forbidden", {
    details: origin === undefined ? "Header origin is required" : `Origin ${origin} is not trusted`,
  });
}

const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, X-Client-Application-Id, X-Client-Token";
const EXPOSED_HEADERS =
  "Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Rate-Limit-Limit, " +
  "X-Rate-Limit-Remaining, X-Rate-Limit-Retry, X-Rate-Limit-Type, X-Request-Id";
const PREFLIGHT_MAX_AGE_S = "600";

/** Lets the client-side caller read the response, including errors. */
export function corsHeaders(origin: string): readonly string[] {
  return [
    "Access-Control-Allow-Origin",
    origin,
    "Access-Control-Expose-Headers",
    EXPOSED_HEADERS,
    "Vary",
    "Origin",
  ];
}

/**
 * A preflight carries no credentials, so it lists what any client-side request may contain; the
 * project's trusted domains are checked with the request itself. `corsHeaders` adds the origin.
 */
export function preflightHeaders(methods: readonly string[]): readonly string[] {
  return [
    "Access-Control-Allow-Methods",
    methods.join(", "),
    "Access-Control-Allow-Headers",
    ALLOWED_HEADERS,
    "Access-Control-Max-Age",
    PREFLIGHT_MAX_AGE_S,
  ];
}
