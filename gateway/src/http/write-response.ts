import { corsHeaders } from "../auth/cors.ts";
import { rateLimitHeaders } from "../limits/rate-limit-headers.ts";
import type { Window } from "../limits/rate-limits.ts";
import type { HttpResponse, RequestContext } from "./request-context.ts";

/**
 * Writes an answer in one go. The headers are a flat list, which Node passes on as it is: with
 * thousands of answers a second, objects and their normalising would show.
 */
export function writeResponse(
  context: RequestContext,
  answer: HttpResponse,
  options: WriteOptions,
): void {
  const { res } = context;
  // The client has gone.
  if (res.destroyed || res.headersSent) return;
  const { status, contentType, body } = answer;
  const headers = commonHeaders(context, options);
  const seconds = status < 300 ? (context.route?.cacheSeconds ?? 0) : 0;
  headers.push("Cache-Control", seconds === 0 ? "no-store" : `public, max-age=${seconds}`);
  if (contentType !== undefined) headers.push("Content-Type", contentType);
  // 204 has no length either (RFC 9110 §8.6).
  if (status !== 204) {
    const length = typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
    headers.push("Content-Length", String(length));
  }
  if (context.replayed) headers.push("Idempotent-Replayed", "true");
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (options.draining() && !headers.includes("Connection")) headers.push("Connection", "close");
  res.writeHead(status, headers);
  res.end(body);
}

export type WriteOptions = {
  /** What X-Rate-Limit-* speak of where no limit was looked at. */
  readonly callWindow: Window;
  readonly draining: () => boolean;
};

/** What every answer carries, also those of the operational pages. */
export function commonHeaders(context: RequestContext, options: WriteOptions): string[] {
  const headers = [
    "X-Request-Id",
    context.requestId,
    "X-Content-Type-Options",
    "nosniff",
    ...rateLimitHeaders(context.allowance, options.callWindow, context.now),
  ];
  if (context.corsOrigin !== undefined) headers.push(...corsHeaders(context.corsOrigin));
  return headers;
}
