import type { Allowance, Window } from "./rate-limits.ts";

/** Shown when the limit is disabled. */
const UNLIMITED = "2147483647";

/**
 * X-Rate-Limit-* on every response, and the headers of draft-ietf-httpapi-ratelimit-headers where a
 * limit applied (docs/rate-limits.md#headers).
 */
export function rateLimitHeaders(
  allowance: Allowance | undefined,
  fallback: Window,
  nowMs: number,
): readonly string[] {
  if (allowance === undefined) {
    const limit = fallback.limit === 0 ? UNLIMITED : String(fallback.limit);
    return [
      "X-Rate-Limit-Limit",
      limit,
      "X-Rate-Limit-Remaining",
      limit,
      "X-Rate-Limit-Retry",
      String(Math.ceil(nowMs / 1000)),
    ];
  }
  const { window, remaining, resetMs, exhausted } = allowance;
  const seconds = Math.ceil(resetMs / 1000);
  const next = remaining > 0 ? nowMs : nowMs + resetMs;
  const headers = [
    "X-Rate-Limit-Limit",
    String(window.limit),
    "X-Rate-Limit-Remaining",
    String(remaining),
    "X-Rate-Limit-Retry",
    String(Math.ceil(next / 1000)),
    "RateLimit",
    `"${window.policy}";r=${remaining};t=${seconds}`,
    "RateLimit-Policy",
    `"${window.policy}";q=${window.limit};w=${window.seconds}`,
  ];
  if (exhausted) headers.push("X-Rate-Limit-Type", window.type);
  return headers;
}

export const retryAfterSeconds = (allowance: Allowance): number =>
  Math.max(1, Math.ceil(allowance.resetMs / 1000));
