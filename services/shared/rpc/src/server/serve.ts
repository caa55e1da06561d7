import { once } from "node:events";
import http2 from "node:http2";

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { compileCheck } from "@scrip/contract";
import { toErrorResponse, invalidPayload, ApiError, toConnectError } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";

import { authorizeExternal, externalIdempotency } from "../auth/external-call.ts";
import {
  createTokenVerifier,
  type ServiceClaims,
  type ServiceKeys,
} from "../auth/service-token.ts";
import type { Call } from "../call/call.ts";
import { fromHeaders, REPLAYED_HEADER } from "../call/headers.ts";
import { healthRoutes } from "./health.ts";
import { reflectionRoutes } from "./reflection.ts";
import type { Implementation, Service } from "./service.ts";

export type RpcServer = AsyncDisposable & { readonly url: string; readonly port: number };

export type ServeOptions = {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** One service, or several behind one port; each is its own audience. */
  readonly services: readonly Service[];
  readonly keys: ServiceKeys;
  /** Called after every call, with the cause of an unexpected error. */
  readonly onCall: (report: CallReport) => void;
};

export type CallReport = {
  readonly service: string;
  readonly method: string;
  readonly caller: string;
  readonly requestId: string;
  readonly durationMs: number;
  /** The key of the returned error. */
  readonly key?: string;
  /** The cause of an unexpected error. */
  readonly cause?: unknown;
};

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_TIMEOUT_MS = 10_000;
/** Below this budget no useful work can finish. */
const MIN_BUDGET_MS = 5;

/** Serves gRPC over HTTP/2 without TLS, for use inside a cluster. */
export async function serve(options: ServeOptions): Promise<RpcServer> {
  const shutdown = new AbortController();
  const server = http2.createServer(
    {
      // Half-open floods and giant headers end the connection, not the process.
      settings: { maxConcurrentStreams: 256, maxHeaderListSize: 64 * 1024 },
      maxSessionMemory: 10,
      maxSessionInvalidFrames: 100,
    },
    connectNodeAdapter({
      routes: (router) => mount(router, options),
      shutdownSignal: shutdown.signal,
      readMaxBytes: MAX_REQUEST_BYTES,
      maxTimeoutMs: MAX_TIMEOUT_MS,
      connect: false,
      grpcWeb: false,
    }),
  );
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.on("close", () => sessions.delete(session));
  });
  server.on("sessionError", () => {});
  server.listen(options.port, options.host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");

  return {
    url: `http://${options.host}:${address.port}`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      // An idle session never ends by itself, so close each one gracefully.
      for (const session of sessions) session.close();
      await Promise.race([closed, once(AbortSignal.timeout(DRAIN_MS), "abort")]);
      shutdown.abort();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

/** Maximum time for calls in flight after the server begins to stop. */
const DRAIN_MS = 5_000;

function mount(router: ConnectRouter, options: ServeOptions): void {
  const all = options.services.flatMap(({ implementations }) => implementations);
  for (const service of options.services) {
    const verify = createTokenVerifier(options.keys, service.name);
    for (const implementation of service.implementations) {
      router.service(
        implementation.service,
        // Typed by `implement`; here the RPCs are known by their descriptors only.
        Object.fromEntries(
          implementation.service.methods.map((method) => [
            method.localName,
            adapt(method, implementation, { verify, options }),
          ]),
        ) as unknown as Partial<ServiceImpl<DescService>>,
      );
    }
  }
  healthRoutes(router, {
    services: all.map(({ service }) => service.typeName),
    ready: async () =>
      (await Promise.all(options.services.map((service) => service.ready()))).every(
        (reason) => reason === undefined,
      ),
  });
  reflectionRoutes(
    router,
    all.map(({ service }) => service),
  );
}

type Verify = (authorization: string | null) => Promise<ServiceClaims>;

/**
 * An RPC as Connect calls it: authenticate, authorize, check the message, then call the handler.
 */
function adapt(
  method: DescMethod,
  { handlers }: Implementation,
  { verify, options }: { readonly verify: Verify; readonly options: ServeOptions },
) {
  const handler = handlers[method.localName] as
    | ((request: object, call: Call) => Promise<never>)
    | undefined;
  const check = compileCheck(method.input);
  return async (request: Message, context: HandlerContext) => {
    const start = performance.now();
    let requestId = "";
    let caller = "";
    const report = (outcome: Pick<CallReport, "key" | "cause">): void =>
      options.onCall({
        service: method.parent.typeName,
        method: method.name,
        caller,
        requestId,
        durationMs: performance.now() - start,
        ...outcome,
      });
    try {
      const claims = await verify(context.requestHeader.get("authorization"));
      caller = claims.name;
      let call = callOf(context, claims);
      requestId = call.requestId;
      if (claims.internal) authorizeInternal(claims, call);
      else authorizeExternal(method, claims, call);
      const violation = check(request);
      if (violation !== undefined) throw invalidPayload(violation);
      if (!claims.internal) {
        const sent = { method, request, claims };
        call = { ...call, idempotency: externalIdempotency(sent, context.requestHeader) };
      }
      if (handler === undefined) throw new ApiError("not_implemented");
      const response = await handler(request, call);
      report({});
      return response;
    } catch (error) {
      const isOutage = isUnavailable(error);
      const reported = isOutage ? new ApiError("service_unavailable") : error;
      const { error: returned, unexpected } = toErrorResponse(reported, requestId);
      report({ key: returned.key, ...((isOutage || unexpected) && { cause: error }) });
      throw toConnectError(reported, requestId);
    }
  };
}

function callOf(context: HandlerContext, claims: ServiceClaims): Call {
  const timeoutMs = context.timeoutMs();
  if (timeoutMs !== undefined && timeoutMs < MIN_BUDGET_MS) throw new ApiError("deadline_exceeded");
  const call = fromHeaders(
    context.requestHeader,
    { internal: claims.internal, callerName: claims.name },
    { now: Date.now(), timeoutMs },
  );
  return { ...call, onReplay: () => context.responseHeader.set(REPLAYED_HEADER, "1") };
}

/** Authorizes Scrip's own services, which may call every RPC. */
function authorizeInternal(claims: ServiceClaims, call: Call): void {
  if (claims.projects.includes("*") || claims.projects.includes(call.project.id)) return;
  throw new ApiError("forbidden", { details: "The token does not grant access to this project" });
}
