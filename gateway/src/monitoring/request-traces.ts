import { activeSpan, currentTracing } from "@scrip/telemetry";
import type { Middleware } from "koa";

import type { HttpResponse, RequestContext } from "../http/request-context.ts";

/** Runs each request but probes in a span, which continues that of the caller; undefined without tracing. */
export function createRequestTraces(): Middleware | undefined {
  const tracing = currentTracing();
  return (
    tracing &&
    ((ctx, next) =>
      PROBES.has(ctx.path)
        ? next()
        : tracing.inSpan(
            { name: ctx.method, kind: "server", parent: ctx.get("traceparent") || null },
            () => next(),
          ))
  );
}

/** Requested every few seconds, by probes and scrapers. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/readyz", "/startupz"]);

/** Completes the span of a request: paths contain voucher codes, so it has only their template. */
export function describeRequest(
  { req: { method = "" }, route, requestId, errorKey }: RequestContext,
  { status }: Pick<HttpResponse, "status">,
): void {
  activeSpan()?.describe(
    route === undefined ? method : `${method} ${route.template}`,
    {
      "http.request.method": method,
      "http.response.status_code": status,
      "scrip.request_id": requestId,
      ...(route !== undefined && { "http.route": route.template }),
      ...(errorKey !== undefined && { "error.type": errorKey }),
    },
    status >= 500,
  );
}
