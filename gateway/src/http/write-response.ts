import { pipeline, Readable } from "node:stream";

import type { Admission } from "@scrip/rpc";

import { corsHeaders } from "../auth/cors.ts";
import { rateLimitHeaders } from "../limits/rate-limit-headers.ts";
import type { Window } from "../limits/rate-limits.ts";
import {
  type ArrivedRequest,
  bodyLength,
  type HttpResponse,
  type RequestContext,
} from "./request-context.ts";

/**
 * Writes the whole response in one call. Headers are a flat list, which Node passes on without
 * normalizing it.
 */
export function writeResponse(
  context: RequestContext,
  response: HttpResponse,
  options: WriteOptions,
): void {
  const { res } = context;
  // The client has disconnected.
  if (res.destroyed || res.headersSent) return;
  const { status, contentType, body } = response;
  const headers = commonHeaders(context, options);
  const seconds = status < 300 ? (context.route?.cacheSeconds ?? 0) : 0;
  headers.push("Cache-Control", seconds === 0 ? "no-store" : `public, max-age=${seconds}`);
  if (contentType !== undefined) headers.push("Content-Type", contentType);
  // 204 has no Content-Length (RFC 9110 section 8.6).
  if (status !== 204) {
    headers.push("Content-Length", String(bodyLength(body)));
  }
  if (context.replayed) headers.push("Idempotent-Replayed", "true");
  if (response.headers !== undefined) headers.push(...response.headers);
  if (options.draining() && !headers.includes("Connection")) headers.push("Connection", "close");
  res.writeHead(status, headers);
  if (Array.isArray(body)) sendParts(context, body, options);
  else res.end(body);
}

/** Receivers that take longer are disconnected. */
const SEND_MS = 60_000;

/** Sends a long body at the receiver's pace. */
function sendParts(
  { res, principal }: RequestContext,
  body: readonly Buffer[],
  { admission }: WriteOptions,
): void {
  const release = admission.holdResponse(principal?.project.id ?? "", bodyLength(body));
  const timer = setTimeout(() => res.destroy(), SEND_MS);
  pipeline(Readable.from(body), res, () => {
    clearTimeout(timer);
    release();
  });
}

export type WriteOptions = {
  readonly admission: Pick<Admission, "holdResponse">;
  /** The limit that X-Rate-Limit-* headers describe where none was counted. */
  readonly callWindow: Window;
  readonly draining: () => boolean;
};

/** Headers of every response, including those of plain routes. */
export function commonHeaders(context: ArrivedRequest, options: WriteOptions): string[] {
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
