import type { IncomingMessage, ServerResponse } from "node:http";

import { ApiError } from "@scrip/errors";
import { type Admission, yieldToArrivals } from "@scrip/rpc";

import type { Principal } from "../auth/principal.ts";
import { coversScope } from "../domain/scope.ts";
import { readIdempotencyKey } from "../idempotency/idempotency-key.ts";
import { retryAfterSeconds } from "../limits/rate-limit-headers.ts";
import type { Allowance } from "../limits/rate-limits.ts";
import { requireJsonAccepted } from "./accept-header.ts";
import { type AuthorizeDeps, countProjectCall } from "./authorize.ts";
import { type BodyLimits, expectedLength } from "./body.ts";
import { JSON_TYPE, preparedError, overloadRetrySeconds } from "./error-response.ts";
import { rejectMalformedHeaders } from "./header-checks.ts";
import { pauseConnection } from "./pause-connection.ts";
import { type ArrivalOptions, type ArrivedRequest, arrivedRequest } from "./request-context.ts";
import type { Route } from "./route.ts";
import type { Router } from "./router.ts";
import { endUnreadBody } from "./unread-body.ts";
import { commonHeaders, type WriteOptions } from "./write-response.ts";

export type EarlyRejectionDeps = WriteOptions &
  ArrivalOptions &
  AuthorizeDeps & {
    readonly router: Router<Route>;
    readonly admission: Admission;
    readonly body: BodyLimits;
    readonly onRequest: (request: ArrivedRequest, response: { readonly status: number }) => void;
    /** Called with unexpected errors. */
    readonly onError: (error: unknown, request: ArrivedRequest) => void;
  };

/**
 * Rejects requests of server-side callers for which admission has no room, before Koa and anything else is set up for
 * them: under overload, rejecting takes the processor time that serves others. Returns false for all other requests,
 * and for those whose caller is not cached or who would get another error first.
 */
export function createEarlyRejections(
  deps: EarlyRejectionDeps,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const { admission } = deps;
  return (req, res) => {
    if (!admission.mayReject()) return false;
    const request = arrivedRequest({ req, res }, deps);
    const route = rejectableRoute(deps, request);
    if (route === undefined) return false;
    const principal = deps.auth.cachedServer(req.headers, request);
    if (principal === undefined || !coversScope(principal.scopes, route.scope)) return false;
    const bytes = expectedLength(req, Math.max(deps.body.maxBodyBytes, route.bodyBytes));
    const rejection = admission.overloadError(principal.project.id, route.work.ofLength(bytes));
    if (rejection === undefined) return false;
    yieldToArrivals();
    reject(deps, Object.assign(request, { route, principal }), rejection).catch(
      (error: unknown) => {
        deps.onError(error, request);
        res.destroy();
      },
    );
    return true;
  };
}

/** The route of a request that gets no error before it is admitted, unless the caller is rejected. */
function rejectableRoute(
  { router }: EarlyRejectionDeps,
  request: ArrivedRequest,
): Route | undefined {
  const { req } = request;
  const match = router.match(req.method ?? "", request.path);
  if (match.kind !== "found") return undefined;
  const { route } = match;
  const isUsual =
    route.side === "server" && route.output === "json" && !route.upload && route.hasBody;
  if (!isUsual || req.headers.expect !== undefined) return undefined;
  try {
    rejectMalformedHeaders(req);
    requireJsonAccepted(req.headers.accept);
    if (route.isIdempotent) readIdempotencyKey(req.headers["idempotency-key"]);
    return route;
  } catch {
    return undefined;
  }
}

type KnownRequest = ArrivedRequest & { readonly route: Route; readonly principal: Principal };

async function reject(deps: EarlyRejectionDeps, request: KnownRequest, rejection: ApiError) {
  const { route, principal, res } = request;
  // Rejected calls count as well.
  request.allowance = await countProjectCall(deps.limits, request, route, principal.project.id);
  const isExhausted = request.allowance?.exhausted === true;
  const error = isExhausted ? EXHAUSTED : rejection;
  const { status, bodyOf } = preparedError(error);
  request.errorKey = error.key;
  if (!res.destroyed) {
    const headers = commonHeaders(request, deps);
    const body = bodyOf(request.requestId);
    headers.push("Cache-Control", "no-store", "Content-Type", JSON_TYPE);
    headers.push("Content-Length", String(body.length));
    headers.push("Retry-After", String(retrySeconds(request.allowance)));
    if (deps.draining()) headers.push("Connection", "close");
    res.writeHead(status, headers);
    if (!isExhausted) pauseConnection(request);
    // All of it is ASCII.
    res.end(body, "latin1");
    endUnreadBody(request.req);
  }
  deps.onRequest(request, { status });
}

const retrySeconds = (allowance: Allowance | undefined): number =>
  allowance?.exhausted === true ? retryAfterSeconds(allowance) : overloadRetrySeconds();

const EXHAUSTED = new ApiError("too_many_requests");
