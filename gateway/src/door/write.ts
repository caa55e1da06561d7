import { corsHeaders } from "../auth/client-origin.ts";
import { limitHeaders } from "../limits/headers.ts";
import type { Window } from "../limits/limits.ts";
import type { Answer, Exchange } from "./exchange.ts";

/**
 * Writes an answer in one go. The headers are a flat list, which Node passes on as it is: with
 * thousands of answers a second, objects and their normalising would show.
 */
export function writeAnswer(exchange: Exchange, answer: Answer, options: WriteOptions): void {
  const { res } = exchange;
  // The client has gone.
  if (res.destroyed || res.headersSent) return;
  const { status, contentType, body } = answer;
  const headers = commonHeaders(exchange, options);
  const seconds = status < 300 ? (exchange.route?.cacheSeconds ?? 0) : 0;
  headers.push("Cache-Control", seconds === 0 ? "no-store" : `public, max-age=${seconds}`);
  if (contentType !== undefined) headers.push("Content-Type", contentType);
  // 204 has no length either (RFC 9110 §8.6).
  if (status !== 204) {
    const length = typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
    headers.push("Content-Length", String(length));
  }
  if (exchange.replayed) headers.push("Idempotent-Replayed", "true");
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
export function commonHeaders(exchange: Exchange, options: WriteOptions): string[] {
  const headers = [
    "X-Request-Id",
    exchange.requestId,
    "X-Content-Type-Options",
    "nosniff",
    ...limitHeaders(exchange.allowance, options.callWindow, exchange.now),
  ];
  if (exchange.corsOrigin !== undefined) headers.push(...corsHeaders(exchange.corsOrigin));
  return headers;
}
