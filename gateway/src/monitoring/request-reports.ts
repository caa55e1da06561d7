import type { Logger, Metrics, PlainFields } from "@scrip/telemetry";

import type { ArrivedRequest, HttpResponse } from "../http/request-context.ts";
import type { Route } from "../http/route.ts";
import { createLogThrottle } from "./log-throttle.ts";

/** A log line and a measurement for each request. */
export type RequestReports = Disposable & {
  readonly request: (context: ArrivedRequest, response: Pick<HttpResponse, "status">) => void;
  readonly failure: (error: unknown, context: ArrivedRequest) => void;
  readonly invalidHttp: (status: number) => void;
  readonly rateLimitFallback: (error: unknown) => void;
  readonly redisFailed: (error: unknown) => void;
  readonly responseNotStored: (error: unknown) => void;
};

/** Paths contain voucher codes, so logs and metrics name only the path template. */
const NO_ROUTE = "(none)";

/** Outages fail thousands of requests with the same cause; a line for each would hide it. */
const OUTAGES: ReadonlySet<string> = new Set(["service_unavailable", "deadline_exceeded"]);

export function createRequestReports(logger: Logger, metrics: Metrics): RequestReports {
  const observe = createObserver(metrics);
  const replays = metrics.counter({
    name: "idempotent_replays_total",
    help: "Stored responses returned for a repeated Idempotency-Key.",
    labels: ["route"],
  });
  const fallbacks = metrics.counter({
    name: "limiter_fallbacks_total",
    help: "Rate limit checks to which Redis did not respond, so that the process counted for itself.",
  });
  const brokenRequests = metrics.counter({
    name: "http_broken_requests_total",
    help: "Connections closed because of invalid HTTP or timeouts.",
    labels: ["status"],
  });
  const outages = createLogThrottle<object>((requests, latest) =>
    logger.warn({ requests, ...latest }, "requests failed because a dependency was unavailable"),
  );
  return {
    request(context, { status }) {
      const ms = performance.now() - context.startedAt;
      observe(context.route, status, ms / 1_000);
      if (context.replayed) replays.inc({ route: context.route?.template ?? NO_ROUTE });
      const line = lineOf(context, status, ms);
      // The caller's own request id is logged for correlation and not used otherwise.
      const callerRequestId = context.req.headers["x-request-id"];
      if (typeof callerRequestId !== "string") logger.plain(line, "request");
      else logger.info({ ...line, caller_request_id: callerRequestId.slice(0, 128) }, "request");
    },
    failure(error, context) {
      const { requestId, route, errorKey } = context;
      const fields = { request_id: requestId, route: route?.template ?? NO_ROUTE, error };
      if (errorKey !== undefined && OUTAGES.has(errorKey)) {
        outages.add({ ...fields, key: errorKey });
      } else logger.error(fields, "a request failed unexpectedly");
    },
    invalidHttp: (status) => brokenRequests.inc({ status: String(status) }),
    rateLimitFallback(error) {
      fallbacks.inc();
      logger.warn({ error }, "Redis does not respond; this process counts rate limits for itself");
    },
    redisFailed: (error) => logger.warn({ error }, "Redis failed"),
    responseNotStored: (error) =>
      logger.error({ error }, "a response could not be stored for replays"),
    [Symbol.dispose]: () => outages[Symbol.dispose](),
  };
}

/** Only values that the gateway controls; Node accepts known methods only. */
function lineOf(context: ArrivedRequest, status: number, ms: number): PlainFields {
  const { route, principal, requestId, errorKey, replayed } = context;
  return {
    request_id: requestId,
    method: context.req.method,
    route: route?.template ?? NO_ROUTE,
    status,
    ms: Math.round(ms * 100) / 100,
    ...(principal !== undefined && { app_id: principal.keyId, project_id: principal.project.id }),
    ...(errorKey !== undefined && { key: errorKey }),
    ...(replayed && { replayed }),
  };
}

type Observe = (route: Route | undefined, status: number, seconds: number) => void;

/** Seconds; 0.08 and 0.15 are the objectives of deploy/helm/scrip/monitoring/alerts.yaml. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.08, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10];

/** Label lookups per request would cost more than the measurement, so timers are cached. */
function createObserver(metrics: Metrics): Observe {
  const durations = metrics.histogram({
    name: "http_request_duration_seconds",
    help: "Duration of requests by route, method and status class.",
    labels: ["method", "route", "status"],
    buckets: BUCKETS,
  });
  const timers = new Map<Route | undefined, Map<number, (seconds: number) => void>>();
  const timerOf = (route: Route | undefined, group: number): ((seconds: number) => void) => {
    const ofRoute = timers.get(route) ?? new Map<number, (seconds: number) => void>();
    timers.set(route, ofRoute);
    const known = ofRoute.get(group);
    if (known !== undefined) return known;
    const { method, template } = route ?? { method: NO_ROUTE, template: NO_ROUTE };
    const child = durations.labels(method, template, `${group}xx`);
    const timer = (seconds: number): void => child.observe(seconds);
    ofRoute.set(group, timer);
    return timer;
  };
  return (route, status, seconds) => timerOf(route, Math.floor(status / 100))(seconds);
}
