import { once } from "node:events";
import http2 from "node:http2";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { currentTime, projectTime } from "@scrip/clock";
import { compileCheck } from "@scrip/contract";
import { ApiError, invalidPayload, notFound, toConnectError, toErrorResponse } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";
import { isUnavailable } from "@scrip/postgres";

import { type Admission, LIGHT_WORK } from "../admission/admission.ts";
import { acceptExternal, authorizeExternal } from "../auth/external-call.ts";
import { authorizeInternal } from "../auth/internal-call.ts";
import {
  createTokenVerifier,
  type ServiceClaims,
  type ServiceKeys,
} from "../auth/service-token.ts";
import type { Tls } from "../auth/tls.ts";
import { BATCH_PROJECT, type Call } from "../call/call.ts";
import type { FindProject } from "../call/find-project.ts";
import { pathOf } from "../call/frame.ts";
import { fromHeaders, type ReceivedCall, REPLAYED_HEADER } from "../call/headers.ts";
import { serverSpans } from "../call/traces.ts";
import type { CodeGuessing, CodeRequest } from "../code-guessing/code-guessing.ts";
import { type CodeLookups, codeLookupsOf } from "../code-guessing/code-lookups.ts";
import {
  CodeGuesserBlocked,
  countMisses,
  namedIn,
  rejectGuesser,
} from "../code-guessing/count-misses.ts";
import {
  guardBodies,
  type GuardedMethod,
  type HandleStream,
  MAX_TIMEOUT_MS,
} from "./guard-bodies.ts";
import { healthRoutes } from "./health.ts";
import { reflectionRoutes } from "./reflection.ts";
import type { Callers, Implementation, ReplicatingService } from "./service.ts";
import type { CallContext, UnaryMethod } from "./unary-call.ts";

export type RpcServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Whether it takes calls and its services can work. */
  readonly isReady: () => Promise<boolean>;
};

export type ServeOptions = {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** One service, or several behind one port; each is its own audience. */
  readonly services: readonly ReplicatingService[];
  readonly keys: ServiceKeys;
  /** Bounds the calls in progress. */
  readonly admission: Admission;
  /** Counts the unknown codes of external services. */
  readonly codeGuessing: CodeGuessing;
  /** Called after every call, with the cause of an unexpected error. */
  readonly onCall: (report: CallReport) => void;
  /** Requires certificates of callers. Default: no encryption. */
  readonly tls?: Tls | undefined;
  /** How long to serve after the health service has reported NOT_SERVING to callers. Default: some milliseconds. */
  readonly drainMs?: number;
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
/** Below this budget no useful work can finish. */
const MIN_BUDGET_MS = 5;

/** Serves gRPC over HTTP/2, for use inside a cluster. */
export async function serve(options: ServeOptions): Promise<RpcServer> {
  // In this order: no new calls are accepted, streams without an end of their own end, and all calls end.
  const draining = new AbortController();
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const { services } = options;
  const methods = methodsOf(options, stopping.signal);
  const isReady = async (): Promise<boolean> =>
    !draining.signal.aborted && (await areReady(services));
  const server = createServer(
    options.tls,
    guardBodies(
      connectNodeAdapter({
        routes: (router) =>
          mount(router, methods, { services, draining: draining.signal, isReady }),
        shutdownSignal: shutdown.signal,
        readMaxBytes: MAX_REQUEST_BYTES,
        maxTimeoutMs: MAX_TIMEOUT_MS,
        connect: false,
        grpcWeb: false,
      }),
      {
        methodAt: (path) => methods.get(path),
        onReject: ({ error, requestId, ...called }) =>
          options.onCall({
            ...called,
            caller: "",
            requestId,
            durationMs: 0,
            key: toErrorResponse(error, requestId).error.key,
          }),
      },
    ),
  );
  const { sessions, sockets } = followConnections(server);
  server.listen(options.port, options.host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");

  return {
    url: `${options.tls === undefined ? "http" : "https"}://${options.host}:${address.port}`,
    port: address.port,
    isReady,
    async [Symbol.asyncDispose]() {
      draining.abort();
      await sleep(Math.max(options.drainMs ?? 0, NOTICE_MS));
      stopping.abort();
      const closed = once(server, "close");
      server.close();
      // An idle session never ends by itself, so close each one gracefully.
      for (const session of sessions) session.close();
      await Promise.race([closed, once(AbortSignal.timeout(DRAIN_MS), "abort")]);
      shutdown.abort();
      for (const session of sessions) session.destroy();
      // A session that is gone leaves its connection open while its caller has not read everything.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The connections that are open, and their sessions. */
function followConnections(server: ReturnType<typeof createServer>) {
  const sessions = new Set<http2.ServerHttp2Session>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.on("close", () => sessions.delete(session));
  });
  server.on("sessionError", () => {});
  return { sessions, sockets };
}

async function areReady(services: readonly ReplicatingService[]): Promise<boolean> {
  const reasons = await Promise.all(services.map((service) => service.ready()));
  return reasons.every((reason) => reason === undefined);
}

/** Half-open floods and giant headers end the connection, not the process. */
const LIMITS = {
  settings: { maxConcurrentStreams: 256, maxHeaderListSize: 64 * 1024 },
  /** In MB. Responses that the caller has not read count too: beyond it, further calls of the connection are rejected. */
  maxSessionMemory: 64,
  maxSessionInvalidFrames: 100,
};

function createServer(tls: Tls | undefined, handle: HandleStream) {
  if (tls === undefined) return http2.createServer(LIMITS).on("stream", handle);
  const required = { requestCert: true, rejectUnauthorized: true };
  const server = http2.createSecureServer({ ...LIMITS, ...tls.current(), ...required });
  tls.onChange((certificates) => server.setSecureContext(certificates));
  return server.on("stream", handle);
}

/** Callers that follow the health of this process learn within this time that it stops. */
const NOTICE_MS = 100;

/** Maximum time for calls in flight after the server begins to stop. */
const DRAIN_MS = 5_000;

type ServedMethod = GuardedMethod & {
  readonly method: DescMethod;
  /** As Connect calls it. */
  readonly call: ReturnType<typeof adapt>;
};

/** The RPCs of all services, by their paths. */
function methodsOf(
  options: ServeOptions,
  stopping: AbortSignal,
): ReadonlyMap<string, ServedMethod> {
  const methods = new Map<string, ServedMethod>();
  for (const service of options.services) {
    const verify = createTokenVerifier(options.keys, service.name);
    for (const implementation of service.implementations) {
      for (const method of implementation.service.methods) {
        const call = adapt(method, implementation, { verify, service, options, stopping });
        methods.set(pathOf(method), { method, verify, call, unary: unaryOf(method, call) });
      }
    }
  }
  return methods;
}

function unaryOf(method: DescMethod, call: ServedMethod["call"]): UnaryMethod | undefined {
  if (method.methodKind !== "unary") return undefined;
  return {
    method,
    handle: call as UnaryMethod["handle"],
    maxBytes: MAX_REQUEST_BYTES,
    maxTimeoutMs: MAX_TIMEOUT_MS,
  };
}

function mount(
  router: ConnectRouter,
  methods: ReadonlyMap<string, ServedMethod>,
  { services, draining, isReady }: Mounted,
): void {
  const all = services.flatMap(({ implementations }) => implementations);
  for (const { service } of all) {
    router.service(
      service,
      // Typed by `implement`; here the RPCs are known by their descriptors only.
      Object.fromEntries(
        service.methods.map((method) => [method.localName, methods.get(pathOf(method))?.call]),
      ) as unknown as Partial<ServiceImpl<DescService>>,
    );
  }
  const descriptors = all.map(({ service }) => service);
  const names = descriptors.map(({ typeName }) => typeName);
  healthRoutes(router, { draining, isReady, services: names });
  reflectionRoutes(router, descriptors);
}

type Mounted = Pick<ServeOptions, "services"> & {
  readonly draining: AbortSignal;
  readonly isReady: () => Promise<boolean>;
};

type Verify = (authorization: string | null) => Promise<ServiceClaims>;

/** An RPC as it is called: authenticate, authorize, load the project, check the message, then call the handler. */
function adapt(
  method: DescMethod,
  { handlers }: Implementation,
  {
    verify,
    service: { findProject, callers },
    options,
    stopping,
  }: {
    readonly verify: Verify;
    readonly service: Pick<ReplicatingService, "findProject" | "callers">;
    readonly options: ServeOptions;
    readonly stopping: AbortSignal;
  },
) {
  const handler = handlers[method.localName];
  const check = compileCheck(method.input);
  const lookups = codeLookupsOf(method);
  const inSpan = serverSpans();
  const accept = (request: Message, context: CallContext) =>
    acceptCall(
      { method, check, handler, verify, findProject, callers, onCall: options.onCall },
      request,
      context,
    );
  if (method.methodKind === "server_streaming") {
    return async function* stream(request: Message, context: HandlerContext) {
      const accepted = accept(request, context);
      try {
        const { call: received } = await accepted.call();
        const call = { ...received, signal: context.signal, stopping };
        yield* (handler as unknown as StreamHandler)(request, call);
        accepted.succeed();
      } catch (error) {
        throw accepted.fail(error);
      }
    };
  }
  return (request: Message, context: CallContext) =>
    inSpan(method, context.requestHeader, async () => {
      const accepted = accept(request, context);
      try {
        const { call, isExternal } = await accepted.call();
        const handle = () =>
          runAdmitted(options.admission, context, call, (admitted) =>
            (handler as UnaryHandler)(request, admitted),
          );
        const response =
          isExternal && lookups !== undefined
            ? await countUnknownCodes(options.codeGuessing, { call, request, lookups }, handle)
            : await handle();
        accepted.succeed();
        return response;
      } catch (error) {
        throw accepted.fail(error);
      }
    });
}

type Accepting = {
  readonly method: DescMethod;
  readonly check: ReturnType<typeof compileCheck>;
  readonly handler: unknown;
  readonly verify: Verify;
  readonly findProject: FindProject;
  readonly callers: Callers;
  readonly onCall: ServeOptions["onCall"];
};

/** Authenticates, authorizes and checks a call; reports it when it ends. */
function acceptCall(
  { method, check, handler, verify, findProject, callers, onCall }: Accepting,
  request: Message,
  context: CallContext,
) {
  const start = performance.now();
  let requestId = "";
  let caller = "";
  const report = (outcome: Pick<CallReport, "key" | "cause">): void =>
    onCall({
      service: method.parent.typeName,
      method: method.name,
      caller,
      requestId,
      durationMs: performance.now() - start,
      ...outcome,
    });
  return {
    async call(): Promise<{ readonly call: Call; readonly isExternal: boolean }> {
      const claims = await verify(context.requestHeader.get("authorization"));
      caller = claims.name;
      const received = receive(context, claims);
      requestId = received.requestId;
      if (claims.internal)
        authorizeInternal(method, claims, { projectId: received.projectId, callers });
      else authorizeExternal(method, claims, received.projectId);
      const call = await inProject(received, findProject);
      const isExternal = !claims.internal;
      const idempotency = isExternal
        ? acceptExternal({ method, request, claims }, context.requestHeader)
        : call.idempotency;
      const violation = check(request);
      if (violation !== undefined) throw invalidPayload(violation);
      if (handler === undefined) throw new ApiError("not_implemented");
      return { call: { ...call, idempotency }, isExternal };
    },
    succeed: () => report({}),
    /** Returns the error for the caller. */
    fail(error: unknown): ConnectError {
      // The call was rejected before its headers were read.
      requestId ||= newRequestId();
      const isOutage = isUnavailable(error);
      const reported = isOutage ? new ApiError("service_unavailable") : error;
      const { error: returned, unexpected } = toErrorResponse(reported, requestId);
      report({ key: returned.key, ...((isOutage || unexpected) && { cause: error }) });
      const thrown = toConnectError(reported, requestId);
      if (error instanceof CodeGuesserBlocked) {
        thrown.metadata.set("retry-after", String(error.retryAfterSeconds));
      }
      return thrown;
    },
  };
}

/** The gateway counts those of its callers. A service in a project is what a key is over HTTP. */
function countUnknownCodes<Result extends Message>(
  codeGuessing: CodeGuessing,
  {
    call: { project, caller, requestId },
    request,
    lookups,
  }: { readonly call: Call; readonly request: Message; readonly lookups: CodeLookups },
  handle: () => Promise<Result>,
): Promise<Result> {
  const codes: CodeRequest = {
    projectId: project.id,
    keyId: `${project.id} service ${caller.id}`,
    callerId: caller.id,
    requestId,
    side: "service",
    // Its replicas share the token, and behind a mesh the address too.
    address: "",
    ...namedIn(request),
  };
  rejectGuesser(codeGuessing, codes);
  return countMisses(codeGuessing, { request: codes, lookups }, handle);
}

type UnaryHandler = (request: object, call: Call) => Promise<never>;
/** Streams are few and long, so they are not admitted as calls: their caller bounds them. */
type StreamHandler = (request: object, call: Call) => AsyncIterable<Message>;

/** Batches of Scrip's services carry the projects in their items. */
const BATCHES = "batches";

/** Runs a call when it is its turn; handlers that turn out to be heavy wait for another one. */
async function runAdmitted<Result>(
  admission: Admission,
  context: CallContext,
  call: Call,
  handle: (call: Call) => Promise<Result>,
): Promise<Result> {
  const admitted = admission.enter(call.project.id || BATCHES, 1);
  const admit = (work: number): Promise<void> | undefined => {
    if (work > LIGHT_WORK) context.heavyFor = call.project.id;
    const turn = admitted.start(work);
    if (turn === undefined) return undefined;
    const { signal } = context;
    signal.addEventListener("abort", admitted.leave);
    return turn.finally(() => signal.removeEventListener("abort", admitted.leave));
  };
  try {
    const turn = admit(1);
    if (turn !== undefined) await turn;
    return await handle({ ...call, admit, isAbandoned: () => context.signal.aborted });
  } finally {
    admitted.leave();
  }
}

function receive(context: CallContext, claims: ServiceClaims): ReceivedCall {
  const timeoutMs = context.timeoutMs();
  if (timeoutMs !== undefined && timeoutMs < MIN_BUDGET_MS) throw new ApiError("deadline_exceeded");
  const call = fromHeaders(
    context.requestHeader,
    { internal: claims.internal, callerName: claims.name },
    { now: currentTime(), timeoutMs },
  );
  return { ...call, onReplay: () => context.responseHeader.set(REPLAYED_HEADER, "1") };
}

/**
 * The call with the settings of its project. Batch calls of Scrip's own services name no project:
 * their items belong to requests whose project was checked when they arrived.
 */
async function inProject(received: ReceivedCall, findProject: FindProject): Promise<Call> {
  const { projectId, projectVersion: version, now, ...call } = received;
  if (projectId === "") return { ...call, project: BATCH_PROJECT, now: now ?? currentTime() };
  const found = findProject({ projectId, version, deadline: call.deadline });
  const state = found instanceof Promise ? await found : found;
  // The caller has seen the project, so its event is late.
  if (state === undefined && version !== undefined) throw new ApiError("service_unavailable");
  if (state === undefined || state.deleted) throw notFound("project", projectId);
  return { ...call, project: state.project, now: now ?? projectTime(state) };
}
