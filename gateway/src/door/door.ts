import type { IncomingMessage } from "node:http";

import { ApiError } from "@scrip/errors";
import { requestId as newRequestId } from "@scrip/ids";
import type { Context, Middleware, Next } from "koa";

import { clientAddress } from "../auth/addresses.ts";
import { preflightHeaders } from "../auth/client-origin.ts";
import { isOrigin } from "../domain/origin.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Answer, type Exchange, splitTarget } from "./exchange.ts";
import { failureOf, RefusalWithHeaders } from "./failure.ts";
import { refuseMalformed } from "./malformed.ts";
import { answerRoute, type PipelineDeps } from "./pipeline.ts";
import type { Route } from "./route.ts";
import type { Match, Router } from "./router.ts";
import { commonHeaders, writeAnswer, type WriteOptions } from "./write.ts";

export type DoorOptions = WriteOptions & {
  readonly router: Router<Route>;
  readonly pipeline: Omit<PipelineDeps, "fail" | "report">;
  readonly deadlines: Deadlines;
  readonly clock: () => number;
  /** How many proxies in front of us add to X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly onRequest: (exchange: Exchange, answer: Pick<Answer, "status">) => void;
  /** Told what went wrong unexpectedly. */
  readonly onError: (error: unknown, exchange: Exchange) => void;
};

/**
 * The one middleware that answers the contract. What the contract does not know goes on to the
 * operational pages, and what they do not know either is 404, with the Error object as ever.
 */
export function createDoor(options: DoorOptions): Middleware {
  const { router, onRequest } = options;
  const fail = (thrown: unknown, exchange: Exchange): Answer => {
    const { answer, key, unexpected } = failureOf(thrown, exchange);
    exchange.errorKey = key;
    if (unexpected) options.onError(thrown, exchange);
    return answer;
  };
  const pipeline: PipelineDeps = { ...options.pipeline, fail, report: options.onError };

  return async (ctx, next) => {
    const exchange = begin(ctx, options);
    const match = router.match(ctx.req.method ?? "", exchange.path);
    if (match.kind === "none") {
      if (await servedElsewhere(exchange, next, options, fail)) return;
    }
    ctx.respond = false;
    let answer: Answer;
    try {
      refuseMalformed(ctx.req);
      answer = await options.deadlines.within(answerMatch(pipeline, exchange, match));
    } catch (thrown) {
      answer = fail(thrown, exchange);
    }
    writeAnswer(exchange, answer, options);
    onRequest(exchange, answer);
  };
}

function begin(ctx: Context, { clock, trustedProxies }: DoorOptions): Exchange {
  const { req, res } = ctx;
  const { path, query } = splitTarget(req.url ?? "");
  const forwarded = req.headers["x-forwarded-for"];
  return {
    ctx,
    req,
    res,
    requestId: newRequestId(),
    address: clientAddress(
      req.socket.remoteAddress,
      typeof forwarded === "string" ? forwarded : undefined,
      trustedProxies,
    ),
    startedAt: performance.now(),
    now: clock(),
    path,
    query,
    route: undefined,
    principal: undefined,
    allowance: undefined,
    corsOrigin: path.startsWith(CLIENT_PATH) ? originOf(req) : undefined,
    replayed: false,
    errorKey: undefined,
  };
}

/** Answers may name an origin before it is known whether it is trusted, but never `null`. */
function originOf({ headers: { origin } }: IncomingMessage): string | undefined {
  return origin !== undefined && isOrigin(origin) ? origin : undefined;
}

const CLIENT_PATH = "/client/v1/";

async function answerMatch(
  pipeline: PipelineDeps,
  exchange: Exchange,
  match: Match<Route>,
): Promise<Answer> {
  const { req, path } = exchange;
  if (match.kind === "found") {
    exchange.route = match.route;
    return answerRoute(pipeline, exchange, match.route, match.params);
  }
  if (match.kind === "none") {
    throw new ApiError("not_found", { details: `Cannot find ${path.slice(0, 200)}` });
  }
  const { allowed, route } = match;
  if (req.method === "OPTIONS") return answerOptions(allowed, route, exchange.corsOrigin);
  throw methodNotAllowed(allowed.join(", "));
}

const methodNotAllowed = (allowed: string): ApiError =>
  new RefusalWithHeaders("method_not_allowed", { details: `Allowed: ${allowed}` }, [
    "Allow",
    allowed,
  ]);

/** Preflights of client pages come without credentials; elsewhere nothing is open to pages. */
function answerOptions(
  methods: readonly string[],
  route: Route,
  origin: string | undefined,
): Answer {
  const headers =
    route.side === "client" && origin !== undefined
      ? preflightHeaders(methods)
      : ["Allow", methods.join(", ")];
  return { status: 204, contentType: undefined, body: undefined, headers };
}

/** Answers whether one of the operational pages took the request. */
async function servedElsewhere(
  exchange: Exchange,
  next: Next,
  options: DoorOptions,
  fail: (thrown: unknown, exchange: Exchange) => Answer,
): Promise<boolean> {
  const { ctx } = exchange;
  const headers = commonHeaders(exchange, options);
  for (let at = 0; at < headers.length; at += 2) {
    ctx.set(headers[at] as string, headers[at + 1] as string);
  }
  ctx.set("Cache-Control", "no-store");
  if (options.draining()) ctx.set("Connection", "close");
  try {
    refuseMalformed(ctx.req);
    await next();
    if (ctx.status === 405 || ctx.status === 501) {
      throw methodNotAllowed(ctx.response.get("Allow"));
    }
  } catch (thrown) {
    ctx.respond = false;
    clearHeaders(ctx);
    const answer = fail(thrown, exchange);
    writeAnswer(exchange, answer, options);
    options.onRequest(exchange, answer);
    return true;
  }
  if (ctx.status !== 404) {
    options.onRequest(exchange, { status: ctx.status });
    return true;
  }
  clearHeaders(ctx);
  return false;
}

function clearHeaders({ res }: Context): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
}
