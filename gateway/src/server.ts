import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { Server as NetServer } from "node:net";
import { setImmediate as nextIteration, setTimeout as sleep } from "node:timers/promises";

import type { DescService } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { type Binding, bindingsOf } from "@scrip/contract";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { createClaims, createMessages, createRedis, type RedisClient } from "@scrip/redis";
import {
  type Admission,
  clientOf,
  type CodeGuessing,
  createAdmission,
  createDirectTransport,
  type ReadinessCheck,
  REQUEST_DEADLINE_MS,
  type Service,
  type SharedGuessing,
  shareDefinitions,
  startCodeGuessing,
  yieldToArrivals,
} from "@scrip/rpc";
import type { Logger, Metrics } from "@scrip/telemetry";
import Koa from "koa";

import { createAuthenticator } from "./auth/authenticate.ts";
import { createFailedLoginThrottle, createLaneChoice } from "./auth/failed-login-throttle.ts";
import { toTenant } from "./auth/principal.ts";
import { createSharedCredentials } from "./auth/shared-credentials.ts";
import { shareEvictions } from "./auth/shared-evictions.ts";
import { type CompositionDeps, createCompositionDeps } from "./composition/index.ts";
import type { HttpConfig } from "./config.ts";
import { createDocsSite } from "./docs/site.ts";
import { createDeadlines } from "./http/deadlines.ts";
import { createEarlyRejections } from "./http/early-rejections.ts";
import { createApiMiddleware } from "./http/middleware.ts";
import type { AppendImportFile, PipelineDeps } from "./http/pipeline.ts";
import { plainRoutes } from "./http/plain-routes.ts";
import { type Route, toRoute } from "./http/route.ts";
import { createRouter, type Router } from "./http/router.ts";
import { respondToInvalidHttp, rejectConnect } from "./http/socket-errors.ts";
import { createCompletedResponses } from "./idempotency/completed-responses.ts";
import { type CounterStore, redisCounters } from "./limits/counter-stores.ts";
import { createListAdmission } from "./limits/list-admission.ts";
import { createRateLimits, type RateLimits } from "./limits/rate-limits.ts";
import { createSharedGuessing } from "./limits/shared-guessing.ts";
import { createProxyWarnings } from "./monitoring/proxy-warnings.ts";
import { readinessOf } from "./monitoring/readiness.ts";
import { createRequestReports, type RequestReports } from "./monitoring/request-reports.ts";
import { createRequestTraces, describeRequest } from "./monitoring/request-traces.ts";
import { openApiOf, type OpenApiDocument } from "./openapi/index.ts";
import { ownServices, publicServices } from "./public-services.ts";
import type { GatewayService } from "./service.ts";
import { findProject } from "./store/projects.ts";
import { createTranscoder } from "./transcode/index.ts";

export type GatewayOptions = {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly config: HttpConfig;
  /** The gateway's own service, in this process. */
  readonly service: GatewayService;
  /** Transports of the other services by their full protobuf names. */
  readonly transports: ReadonlyMap<string, Transport>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Shared with what else this process serves; by default the gateway's own. */
  readonly admission?: Admission;
  /** Protects what the replicas of the gateway store in Redis for each other; without it, they share no tokens. */
  readonly sharedSecret?: (() => string | undefined) | undefined;
  /** Counts rate limits for several processes where there is no Redis; by default each counts for itself. */
  readonly counters?: CounterStore | undefined;
  /** Services in this process, whose replicas share changes through the Redis of the gateway. */
  readonly inProcess?: readonly Service[];
  /** Readiness of the services that the gateway calls, by their names. */
  readonly dependencies?: Readonly<Record<string, ReadinessCheck>>;
  /** Timeout of a request; defaults to the deadline of calls between services. */
  readonly deadlineMs?: number;
  /** Public services; all of the contract by default. */
  readonly services?: readonly DescService[];
};

export type Gateway = AsyncDisposable & { readonly url: string; readonly port: number };

export type StartedGateway = Gateway & {
  /** For what else this process serves. */
  readonly codeGuessing: CodeGuessing;
};

export async function startGateway(options: GatewayOptions): Promise<StartedGateway> {
  const { config, service, metrics } = options;
  await using parts = new AsyncDisposableStack();
  const state = { draining: false };
  const reports = parts.use(createRequestReports(options.logger, metrics));
  const warnAboutProxies = createProxyWarnings(config.trustedProxies, options.logger.warn);
  const bindings = bindingsOf(options.services ?? publicServices);
  const transports = withOwn(options);
  const limits = parts.use(await startLimits(options, reports));
  const admission = options.admission ?? createAdmission(config.admission, metrics);
  const { shared } = limits;
  const codeGuessing = codeGuessingOf(options, shared);

  const app = new Koa();
  // Koa's own error log is disabled: the middleware reports errors with their request.
  app.silent = true;
  const traces = createRequestTraces();
  if (traces !== undefined) app.use(traces);
  const pipeline = pipelineOf(options, { limits, reports, admission, transports, codeGuessing });
  const http = {
    router: routerOf(bindings, transports, createCompositionDeps(transports, service)),
    admission,
    clock: service.clock,
    trustedProxies: config.trustedProxies,
    callWindow: limits.callWindow,
    draining: () => state.draining,
    onError: reports.failure,
  };
  app.use(
    createApiMiddleware({
      ...http,
      pipeline,
      deadlines: parts.use(createDeadlines(options.deadlineMs ?? REQUEST_DEADLINE_MS)),
      onRequest: (context, response) => {
        describeRequest(context, response);
        reports.request(context, response);
        // Health checks reach every process directly.
        if (context.route !== undefined) warnAboutProxies(context.req);
      },
    }),
  );
  const pages = pagesOf(options, { bindings, transports, isDraining: http.draining });
  app.use(pages.routes());
  app.use(pages.allowedMethods());

  const reject = createEarlyRejections({ ...pipeline, ...http, onRequest: reports.request });
  const serve = app.callback();
  const server = createHttpServer((req, res) => {
    if (!reject(req, res)) void serve(req, res);
  }, reports);
  server.listen({ port: options.port, host: options.host, backlog: BACKLOG });
  await once(server, "listening");
  const running = parts.move();
  return {
    ...addressOf(server, options.host),
    codeGuessing,
    async [Symbol.asyncDispose]() {
      state.draining = true;
      // Even sleep(0) would accept new connections, which would then be reset.
      if (config.drainSeconds > 0) await sleep(config.drainSeconds * 1_000);
      await close(server);
      await running.disposeAsync();
    },
  };
}

const codeGuessingOf = (
  { logger, metrics, config, service }: GatewayOptions,
  shared: SharedGuessing | undefined,
): CodeGuessing =>
  startCodeGuessing({
    logger,
    metrics,
    settings: config.limits,
    shared,
    recordHit: service.recordHit,
  });

function pagesOf(
  options: GatewayOptions,
  {
    bindings,
    transports,
    isDraining,
  }: {
    readonly bindings: readonly Binding[];
    readonly transports: ReadonlyMap<string, Transport>;
    readonly isDraining: () => boolean;
  },
) {
  const openApi = openApiDocument(bindings, options.config);
  return plainRoutes({
    docs: createDocsSite({ openApi }),
    openApi: JSON.stringify(openApi),
    readiness: readinessOf(options, isDraining),
    exports: exportsOf(transports),
  });
}

function pipelineOf(
  { config, service }: GatewayOptions,
  {
    limits,
    reports,
    admission,
    transports,
    codeGuessing,
  }: {
    readonly transports: ReadonlyMap<string, Transport>;
    readonly limits: RateLimits;
    readonly reports: RequestReports;
    readonly admission: Admission;
    readonly codeGuessing: CodeGuessing;
  },
): Omit<PipelineDeps, "report"> {
  return {
    codeGuessing,
    auth: createAuthenticator({
      credentialCache: service.credentialCache,
      management: config.management,
      throttle: createFailedLoginThrottle(limits),
      laneOf: createLaneChoice(limits),
      clock: service.clock,
    }),
    limits,
    admission,
    lists: createListAdmission(),
    body: config,
    appendImportFile: appendImportFileOf(transports),
    completedResponses: createCompletedResponses(service.db, reports.responseNotStored),
    findTenant: async (projectId) => {
      const project = await findProject(service.db, projectId);
      return project && toTenant(project);
    },
  };
}

function appendImportFileOf(transports: ReadonlyMap<string, Transport>): AppendImportFile {
  const transport = transports.get(ImportService.typeName);
  if (transport === undefined) return () => Promise.reject(new Error("there is no export service"));
  return clientOf(ImportService, transport).appendImportFile;
}

/** Starts rate limits and code guessing, which replicas of the gateway share if Redis is configured. */
async function startLimits(
  { config, counters, service, sharedSecret, inProcess = [] }: GatewayOptions,
  reports: RequestReports,
) {
  const { limits: settings, redisUrl } = config;
  const redis =
    redisUrl === undefined ? undefined : await createRedis(redisUrl, reports.redisFailed);
  const messages = redis && createMessages(redis, reports.redisFailed);
  const claims = redis && createClaims(redis, reports.redisFailed);
  if (redis !== undefined && messages !== undefined) {
    shareEvictions(messages, service.credentialCache);
    if (sharedSecret !== undefined) shareTokens(redis, sharedSecret, service, reports);
    for (const each of [service, ...inProcess]) shareDefinitions(messages, each);
  }
  const store = redis === undefined ? counters : redisCounters(redis);
  return {
    ...createRateLimits({ settings, store, onFallback: reports.rateLimitFallback }),
    shared:
      store &&
      createSharedGuessing(store, { messages, claims, onFallback: reports.rateLimitFallback }),
    [Symbol.dispose]() {
      claims?.[Symbol.dispose]();
      messages?.[Symbol.dispose]();
      redis?.disconnect();
    },
  };
}

function shareTokens(
  redis: RedisClient,
  secret: () => string | undefined,
  { credentialCache, clock }: GatewayService,
  { redisFailed: onError }: RequestReports,
): void {
  credentialCache.shareThrough(createSharedCredentials({ redis, secret, clock, onError }));
}

function routerOf(
  bindings: readonly Binding[],
  transports: ReadonlyMap<string, Transport>,
  composition: CompositionDeps,
): Router<Route> {
  const transcoder = createTranscoder();
  return createRouter(
    bindings.map((binding) =>
      toRoute(binding, { transport: transportOf(binding, transports), transcoder, composition }),
    ),
  );
}

/** Limits how long slow clients can hold a connection. */
function createHttpServer(serve: RequestListener, reports: RequestReports): Server {
  const server = createServer(
    {
      headersTimeout: 10_000,
      // Time for the upload of a file; other requests have shorter limits (http/middleware.ts).
      requestTimeout: 3_600_000,
      connectionsCheckingInterval: 1_000,
      // Longer than that of load balancers, which would otherwise use closed connections.
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 * 1024,
      // Checked in header-checks.ts, because Node responds without an Error object.
      requireHostHeader: false,
    },
    serve,
  );
  // Checked in header-checks.ts, because Node responds without an Error object.
  server.on("checkExpectation", (req, res) => void server.emit("request", req, res));
  server.on("connection", yieldToArrivals);
  server.on("clientError", (error, socket) =>
    reports.invalidHttp(respondToInvalidHttp(error, socket)),
  );
  server.on("connect", (_, socket) => reports.invalidHttp(rejectConnect(socket)));
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Connections that wait to be accepted; the kernel drops further ones, whose clients retry after a second or more. */
const BACKLOG = 4_096;

/** More than clients and proxies send. */
const MAX_HEADERS = 100;
const MAX_CONNECTIONS = 12_000;

function exportsOf(transports: ReadonlyMap<string, Transport>) {
  const transport = transports.get(ExportService.typeName);
  return transport && clientOf(ExportService, transport);
}

function withOwn(options: GatewayOptions): ReadonlyMap<string, Transport> {
  const own = createDirectTransport(options.service.implementations);
  return new Map([
    ...options.transports,
    ...ownServices.map(({ typeName }) => [typeName, own] as const),
  ]);
}

function transportOf({ method }: Binding, transports: ReadonlyMap<string, Transport>): Transport {
  const { typeName } = method.parent;
  const transport = transports.get(typeName);
  if (transport === undefined) throw new Error(`the gateway has no transport for ${typeName}`);
  return transport;
}

/** Version of the API contract, not of a build. */
const API_VERSION = "1.0.0";

function openApiDocument(bindings: readonly Binding[], { baseUrl }: HttpConfig): OpenApiDocument {
  return openApiOf(bindings, {
    version: API_VERSION,
    ...(baseUrl !== undefined && { baseUrl }),
  });
}

function addressOf(server: Server, host: string): { readonly url: string; readonly port: number } {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${address.port}`, port: address.port };
}

/** How long running requests may take to finish during shutdown. */
const DRAIN_MS = 10_000;

/** How long idle keep-alive connections stay open, so that a request in transit gets a response. */
const LINGER_MS = 250;

/**
 * Node closes idle keep-alive connections immediately, and with them requests in transit. So the
 * server first stops accepting connections; responses on existing ones say `Connection: close`.
 */
async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  NetServer.prototype.close.call(server);
  const deadline = setTimeout(() => server.closeAllConnections(), LINGER_MS + DRAIN_MS);
  await Promise.race([closed, sleep(LINGER_MS, undefined, { ref: false })]);
  // Requests that arrived while the process was busy are read first.
  await nextIteration();
  server.close();
  await closed;
  clearTimeout(deadline);
}
