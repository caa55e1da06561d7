import type { Allowance, Window } from "./rate-limits.ts";

/** What a client reads when its calls are not limited: far more than it can make. */
const UNLIMITED = "2147483647";

/**
 * The headers of spec/campaigns-loyalty-platform.md §2, which every answer carries, and those of
 * draft-ietf-httpapi-ratelimit-headers, which describe the policy that applied. Without a limit the
 * former say so with a number that no client reaches, and the latter are left out.
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
