import { ApiError } from "@scrip/errors";

import type { Principal } from "./principal.ts";

/**
 * A browser tells the truth about where a page comes from, so a client key is of no use on a page
 * that its project does not trust. Everybody else can send any origin: this is no authentication.
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

/** Lets the page read the answer, whether it is good news or not. */
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
 * A preflight carries no credentials, so it can only tell what every client request may look like.
 * The project's trusted domains are checked when the request itself comes. The origin is reflected
 * by `corsHeaders`, as in every answer to a client page.
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
