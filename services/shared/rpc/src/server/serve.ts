import { once } from "node:events";
import http2 from "node:http2";

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { compileCheck } from "@scrip/contract";
import { ApiError, invalidPayload, notFound, toConnectError, toErrorResponse } from "@scrip/errors";
import { isUnavailable } from "@scrip/postgres";

import type { Admission } from "../admission/admission.ts";
import { authorizeExternal, externalIdempotency } from "../auth/external-call.ts";
import {
  createTokenVerifier,
  type ServiceClaims,
  type ServiceKeys,
} from "../auth/service-token.ts";
import { BATCH_PROJECT, type Call } from "../call/call.ts";
import type { FindProject, ProjectState } from "../call/find-project.ts";
import { fromHeaders, type ReceivedCall, REPLAYED_HEADER } from "../call/headers.ts";
import type { CodeGuessing, CodeRequest } from "../code-guessing/code-guessing.ts";
import { type CodeLookups, codeLookupsOf } from "../code-guessing/code-lookups.ts";
import {
  CodeGuesserBlocked,
  countMisses,
  namedIn,
  rejectGuesser,
} from "../code-guessing/count-misses.ts";
import { guardBodies } from "./guard-bodies.ts";
import { healthRoutes } from "./health.ts";
import { reflectionRoutes } from "./reflection.ts";
import type { Implementation, ReplicatingService } from "./service.ts";

export type RpcServer = AsyncDisposable & { readonly url: string; readonly port: number };

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
  const verifiers = verifiersOf(options);
  const server = http2.createServer(
    {
      // Half-open floods and giant headers end the connection, not the process.
      settings: { maxConcurrentStreams: 256, maxHeaderListSize: 64 * 1024 },
      maxSessionMemory: 10,
      maxSessionInvalidFrames: 100,
    },
    guardBodies(
      connectNodeAdapter({
        routes: (router) => mount(router, options),
        shutdownSignal: shutdown.signal,
        readMaxBytes: MAX_REQUEST_BYTES,
        maxTimeoutMs: MAX_TIMEOUT_MS,
        connect: false,
        grpcWeb: false,
      }),
      {
        verifierOf: (path) => verifiers.get(path),
        onRefusal: ({ error, requestId, ...called }) =>
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

/** By the path of the RPC. */
const verifiersOf = ({ services, keys }: ServeOptions): ReadonlyMap<string, Verify> =>
  new Map(
    services.flatMap(({ name, implementations }) => {
      const verify = createTokenVerifier(keys, name);
      const methods = implementations.flatMap(({ service }) => service.methods);
      return methods.map((method) => [pathOf(method), verify] as const);
    }),
  );

const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`;

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
            adapt(method, implementation, { verify, findProject: service.findProject, options }),
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
 * An RPC as Connect calls it: authenticate, authorize, load the project, check the message, then
 * call the handler.
 */
function adapt(
  method: DescMethod,
  { handlers }: Implementation,
  {
    verify,
    findProject,
    options,
  }: {
    readonly verify: Verify;
    readonly findProject: FindProject;
    readonly options: ServeOptions;
  },
) {
  const handler = handlers[method.localName];
  const check = compileCheck(method.input);
  const lookups = codeLookupsOf(method);
  const accept = (request: Message, context: HandlerContext) =>
    acceptCall(
      { method, check, handler, verify, findProject, onCall: options.onCall },
      request,
      context,
    );
  if (method.methodKind === "server_streaming") {
    return async function* stream(request: Message, context: HandlerContext) {
      const accepted = accept(request, context);
      try {
        const { call: received } = await accepted.call();
        const call = { ...received, signal: context.signal };
        yield* (handler as unknown as StreamHandler)(request, call);
        accepted.succeed();
      } catch (error) {
        throw accepted.fail(error);
      }
    };
  }
  return async (request: Message, context: HandlerContext) => {
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
  };
}

type Accepting = {
  readonly method: DescMethod;
  readonly check: ReturnType<typeof compileCheck>;
  readonly handler: unknown;
  readonly verify: Verify;
  readonly findProject: FindProject;
  readonly onCall: ServeOptions["onCall"];
};

/** Authenticates, authorizes and checks a call; reports it when it ends. */
function acceptCall(
  { method, check, handler, verify, findProject, onCall }: Accepting,
  request: Message,
  context: HandlerContext,
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
      if (claims.internal) authorizeInternal(claims, received.projectId);
      else authorizeExternal(method, claims, received.projectId);
      const call = await inProject(received, findProject);
      const violation = check(request);
      if (violation !== undefined) throw invalidPayload(violation);
      if (handler === undefined) throw new ApiError("not_implemented");
      if (claims.internal) return { call, isExternal: false };
      const sent = { method, request, claims };
      const idempotency = externalIdempotency(sent, context.requestHeader);
      return { call: { ...call, idempotency }, isExternal: true };
    },
    succeed: () => report({}),
    /** Returns the error for the caller. */
    fail(error: unknown): ConnectError {
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
    call: { project, caller },
    request,
    lookups,
  }: { readonly call: Call; readonly request: Message; readonly lookups: CodeLookups },
  handle: () => Promise<Result>,
): Promise<Result> {
  const codes: CodeRequest = {
    projectId: project.id,
    keyId: `${project.id} service ${caller.id}`,
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
  { signal }: HandlerContext,
  call: Call,
  handle: (call: Call) => Promise<Result>,
): Promise<Result> {
  const admitted = admission.enter(call.project.id || BATCHES, 1);
  const admit = (work: number): Promise<void> | undefined => {
    const turn = admitted.start(work);
    if (turn === undefined) return undefined;
    signal.addEventListener("abort", admitted.leave);
    return turn.finally(() => signal.removeEventListener("abort", admitted.leave));
  };
  try {
    const turn = admit(1);
    if (turn !== undefined) await turn;
    return await handle({ ...call, admit, isAbandoned: () => signal.aborted });
  } finally {
    admitted.leave();
  }
}

function receive(context: HandlerContext, claims: ServiceClaims): ReceivedCall {
  const timeoutMs = context.timeoutMs();
  if (timeoutMs !== undefined && timeoutMs < MIN_BUDGET_MS) throw new ApiError("deadline_exceeded");
  const call = fromHeaders(
    context.requestHeader,
    { internal: claims.internal, callerName: claims.name },
    { now: Date.now(), timeoutMs },
  );
  return { ...call, onReplay: () => context.responseHeader.set(REPLAYED_HEADER, "1") };
}

/**
 * The call with the settings of its project. Batch calls of Scrip's own services name no project:
 * their items belong to requests whose project was checked when they arrived.
 */
async function inProject(received: ReceivedCall, findProject: FindProject): Promise<Call> {
  const { projectId, projectVersion: version, now, ...call } = received;
  if (projectId === "") return { ...call, project: BATCH_PROJECT, now: now ?? Date.now() };
  const found = findProject({ projectId, version, deadline: call.deadline });
  const state = found instanceof Promise ? await found : found;
  // The caller has seen the project, so its event is late.
  if (state === undefined && version !== undefined) throw new ApiError("service_unavailable");
  if (state === undefined || state.deleted) throw notFound("project", projectId);
  return { ...call, project: state.project, now: now ?? currentTimeOf(state) };
}

const currentTimeOf = ({ sandboxNow }: ProjectState): number => sandboxNow ?? Date.now();

/** Authorizes Scrip's own services, which may call every RPC. */
function authorizeInternal(claims: ServiceClaims, projectId: string): void {
  if (claims.projects.includes("*") || claims.projects.includes(projectId)) return;
  throw new ApiError("forbidden", { details: "The token does not grant access to this project" });
}
