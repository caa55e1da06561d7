import { ApiError } from "@scrip/errors";
import { isOverloadError } from "@scrip/rpc";
import type { Context, Middleware, Next } from "koa";

import { preflightHeaders } from "../auth/cors.ts";
import type { Deadlines } from "./deadlines.ts";
import { isDownload } from "./downloads.ts";
import { errorResponseOf, ApiErrorWithHeaders } from "./error-response.ts";
import { rejectMalformedHeaders } from "./header-checks.ts";
import { pauseConnection } from "./pause-connection.ts";
import { handleRequest, type PipelineDeps } from "./pipeline.ts";
import {
  type ArrivalOptions,
  arrivedRequest,
  type HttpResponse,
  type RequestContext,
} from "./request-context.ts";
import type { Route } from "./route.ts";
import type { Match, Router } from "./router.ts";
import { endUnreadBody } from "./unread-body.ts";
import { commonHeaders, writeResponse, type WriteOptions } from "./write-response.ts";

export type MiddlewareOptions = WriteOptions &
  ArrivalOptions & {
    readonly router: Router<Route>;
    readonly pipeline: Omit<PipelineDeps, "report">;
    readonly deadlines: Deadlines;
    readonly onRequest: (context: RequestContext, response: Pick<HttpResponse, "status">) => void;
    /** Called with unexpected errors. */
    readonly onError: (error: unknown, context: RequestContext) => void;
  };

/**
 * Handles every endpoint of the contract. Other paths go to the plain routes; paths
 * without a route get a 404 with an Error object.
 */
export function createApiMiddleware(options: MiddlewareOptions): Middleware {
  const { router, onRequest } = options;
  const fail = (thrown: unknown, context: RequestContext): HttpResponse => {
    const { response, key, unexpected } = errorResponseOf(thrown, context);
    context.errorKey = key;
    if (unexpected) options.onError(thrown, context);
    return response;
  };
  const pipeline: PipelineDeps = {
    ...options.pipeline,
    report: options.onError,
  };

  return async (ctx, next) => {
    const context = { ...arrivedRequest(ctx, options), ctx };
    const match = isDownload(ctx.req.method, context.path, context.query)
      ? NO_ROUTE
      : router.match(ctx.req.method ?? "", context.path);
    if (match.kind === "none") {
      if (await servedByPlainRoutes(context, next, options, fail)) {
        endUnreadBody(ctx.req);
        return;
      }
    }
    ctx.respond = false;
    let response: HttpResponse;
    try {
      rejectMalformedHeaders(ctx.req);
      const handled = handleMatch(pipeline, context, match);
      response = await (isUpload(match) ? handled : options.deadlines.within(handled));
    } catch (thrown) {
      response = fail(thrown, context);
      if (isOverloadError(thrown)) pauseConnection(context);
    }
    writeResponse(context, response, options);
    endUnreadBody(ctx.req);
    onRequest(context, response);
  };
}

/** Plain routes serve it. */
const NO_ROUTE = { kind: "none" } as const;
/** Receiving a file may take long; it has time limits of its own. */
const isUpload = (match: Match<Route>): boolean => match.kind === "found" && match.route.upload;

async function handleMatch(
  pipeline: PipelineDeps,
  context: RequestContext,
  match: Match<Route>,
): Promise<HttpResponse> {
  const { req, path } = context;
  if (match.kind === "found") {
    context.route = match.route;
    return handleRequest(pipeline, context, match.route, match.params);
  }
  if (match.kind === "none") {
    throw new ApiError("not_found", { details: `Cannot find ${path.slice(0, 200)}` });
  }
  const { allowed, route } = match;
  if (req.method === "OPTIONS") return respondToOptions(allowed, route, context.corsOrigin);
  throw methodNotAllowed(allowed.join(", "));
}

const methodNotAllowed = (allowed: string): ApiError =>
  new ApiErrorWithHeaders("method_not_allowed", { details: `Allowed: ${allowed}` }, [
    "Allow",
    allowed,
  ]);

/** Preflights of client-side callers carry no credentials; other sides do not support CORS. */
function respondToOptions(
  methods: readonly string[],
  route: Route,
  origin: string | undefined,
): HttpResponse {
  const headers =
    route.side === "client" && origin !== undefined
      ? preflightHeaders(methods)
      : ["Allow", methods.join(", ")];
  return { status: 204, contentType: undefined, body: undefined, headers };
}

/** Whether a plain route handled the request. */
async function servedByPlainRoutes(
  context: RequestContext,
  next: Next,
  options: MiddlewareOptions,
  fail: (thrown: unknown, context: RequestContext) => HttpResponse,
): Promise<boolean> {
  const { ctx } = context;
  const headers = commonHeaders(context, options);
  for (let at = 0; at < headers.length; at += 2) {
    ctx.set(headers[at] as string, headers[at + 1] as string);
  }
  ctx.set("Cache-Control", "no-store");
  if (options.draining()) ctx.set("Connection", "close");
  try {
    rejectMalformedHeaders(ctx.req);
    await next();
    if (ctx.status === 405 || ctx.status === 501) {
      throw methodNotAllowed(ctx.response.get("Allow"));
    }
  } catch (thrown) {
    ctx.respond = false;
    clearHeaders(ctx);
    const response = fail(thrown, context);
    writeResponse(context, response, options);
    options.onRequest(context, response);
    return true;
  }
  if (ctx.status !== 404) {
    options.onRequest(context, { status: ctx.status });
    return true;
  }
  clearHeaders(ctx);
  return false;
}

function clearHeaders({ res }: Context): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
}
