import type { ServerResponse } from "node:http";

import { isMessage, type Message } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import { notFound } from "@scrip/errors";
import { newId } from "@scrip/ids";
import type { HttpBody } from "@scrip/proto/google/api/httpbody_pb";
import {
  type AsyncActionStarted,
  AsyncActionStartedSchema,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";
import {
  type Admission,
  type Admitted,
  type Call,
  type CodeGuessing,
  type CodeRequest,
  countMisses,
  LIGHT_WORK,
  rejectGuesser,
  runInterleavedLater,
  runInterleaved,
  type ProjectContext,
  REQUEST_DEADLINE_MS,
} from "@scrip/rpc";

import type { Tenant } from "../auth/principal.ts";
import { currentTimeOf } from "../domain/sandbox-clock.ts";
import type { CompletedResponses } from "../idempotency/completed-responses.ts";
import { hashRequest, readIdempotencyKey, scopeKey } from "../idempotency/idempotency-key.ts";
import type { ListAdmission, StartedList } from "../limits/list-admission.ts";
import type { RequestKey } from "../store/idempotency.ts";
import { createTranscoder, type RequestParts } from "../transcode/index.ts";
import { requireJsonAccepted } from "./accept-header.ts";
import { authorize, type AuthorizeDeps } from "./authorize.ts";
import { type BodyLimits, expectedLength, readForm, readJsonBody } from "./body.ts";
import { codeRequestOf } from "./code-guessing.ts";
import { JSON_TYPE } from "./error-response.ts";
import { bodyLength, type HttpResponse, type RequestContext } from "./request-context.ts";
import type { Route } from "./route.ts";
import { receiveUpload, type UploadLimits } from "./upload.ts";

/** Stores a part of an uploaded file in the export service. */
export type AppendImportFile = (
  part: { readonly fileId: string; readonly number: bigint; readonly data: Uint8Array },
  call: Call,
) => Promise<unknown>;

export type PipelineDeps = AuthorizeDeps & {
  readonly body: BodyLimits & UploadLimits;
  readonly appendImportFile: AppendImportFile;
  readonly admission: Admission;
  readonly lists: ListAdmission;
  readonly completedResponses: CompletedResponses;
  readonly codeGuessing: CodeGuessing;
  readonly findTenant: (projectId: string) => Promise<Tenant | undefined>;
  /** Logs an error that does not fail the request. */
  readonly report: (error: unknown, context: RequestContext) => void;
};

/**
 * Handles a request to any endpoint: authorizes it, reads it, calls the service and encodes the
 * response. What differs between endpoints is compiled into the route from the contract.
 */
export async function handleRequest(
  deps: PipelineDeps,
  context: RequestContext,
  route: Route,
  params: readonly string[],
): Promise<HttpResponse> {
  await authorize(deps, context, route);
  if (route.output === "json") requireJsonAccepted(context.req.headers.accept);
  const key = idempotencyKeyOf(context, route);
  const maxBodyBytes = Math.max(deps.body.maxBodyBytes, route.bodyBytes);
  // A file is stored as it arrives, and takes no memory.
  const bytes = route.hasBody && !route.upload ? expectedLength(context.req, maxBodyBytes) : 0;
  // Before the body is read, so that rejecting costs little.
  const project = projectOf(context, route);
  const estimate = route.work.ofLength(bytes);
  const admitted = deps.admission.enter(project, estimate);
  let list: StartedList | undefined;
  try {
    const input = route.upload
      ? await readUpload(deps, { context, route, params })
      : await readInput({ context, route, params, maxBodyBytes });
    const decoded =
      estimate > LIGHT_WORK
        ? await decodeInTurn(route, input, { project, res: context.res })
        : route.decode(input);
    const message = withFile(decoded, input);
    const codes = route.codes && codeRequestOf(context, message);
    if (codes !== undefined) rejectGuesser(deps.codeGuessing, codes);
    const admit = (work: number) => waitForTurn(context, admitted, work);
    const workOf = (objectBytes: number) =>
      route.work.ofMessage(message, input.body?.length ?? 0, objectBytes);
    if (route.work.countListed !== undefined) {
      list = await deps.lists.start(`${project} ${route.template}`, workOf, admit);
    }
    const work = list?.work ?? workOf(0);
    const turn = list === undefined ? admit(work) : undefined;
    if (turn !== undefined) await turn;
    const signal = work > LIGHT_WORK ? closeSignal(context) : undefined;
    return await respond(deps, context, { route, key, message, codes, input, admit, signal, list });
  } finally {
    list?.end();
    admitted.leave();
  }
}

/** Heavy requests wait after this in any case, so new connections and the rejection of others go first. */
const decodeInTurn = (
  route: Route,
  input: Input,
  { project, res }: { readonly project: string; readonly res: ServerResponse },
): Promise<Message> =>
  runInterleavedLater(decoding(route, input), {
    project: { id: project },
    deadline: currentTime() + REQUEST_DEADLINE_MS,
    isAbandoned: () => res.destroyed,
  });

function* decoding(route: Route, input: Input): Generator<void, Message> {
  yield;
  return route.decode(input);
}

/** A caller that leaves frees its place in the queue. */
function waitForTurn(
  { res }: RequestContext,
  admitted: Admitted,
  work: number,
): Promise<void> | undefined {
  const turn = admitted.start(work);
  if (turn === undefined) return undefined;
  res.once("close", admitted.leave);
  return turn.finally(() => res.off("close", admitted.leave));
}

/** Tells other processes that the caller has left; light work ends before that pays. */
function closeSignal({ res }: RequestContext): AbortSignal {
  const controller = new AbortController();
  res.once("close", () => controller.abort());
  return controller.signal;
}

const projectOf = ({ principal, address }: RequestContext, { side }: Route): string =>
  principal?.project.id ?? (side === "management" ? "management" : `address ${address}`);

type Request = Pick<Work, "route" | "message" | "codes" | "admit" | "signal" | "list"> & {
  readonly key: string | undefined;
  readonly input: Input;
};

async function respond(
  deps: PipelineDeps,
  context: RequestContext,
  { key, input, ...work }: Request,
): Promise<HttpResponse> {
  if (key === undefined) return callService(deps, context, work);

  const requestKey = requestKeyOf(context, work.route, key, input);
  const idempotency = { key: requestKey.scopedKey, requestHash: requestKey.requestHash };
  return callService(deps, context, { ...work, idempotency, requestKey });
}

function requestKeyOf(
  { principal, path }: RequestContext,
  { method }: Route,
  key: string,
  { query, file, body: sent }: Input,
): RequestKey {
  const appId = principal?.keyId ?? "management";
  const body = file?.hash ?? sent;
  return {
    projectId: principal?.project.id ?? "",
    scopedKey: scopeKey({ appId, method, path }, key),
    requestHash: hashRequest({ method, path, query, body }),
  };
}

function idempotencyKeyOf({ req }: RequestContext, route: Route): string | undefined {
  if (!route.hasBody || !route.isIdempotent) return undefined;
  return readIdempotencyKey(req.headers["idempotency-key"]);
}

type Input = RequestParts & {
  /** Of an uploaded file. */
  readonly file?: { readonly id: string; readonly hash: Buffer };
};

const withFile = (message: Message, { file }: Input): Message =>
  file === undefined ? message : ({ ...message, fileId: file.id } as Message);

/** Stores the file of the request; without one, its id stays empty. Other fields of the form are read like parameters of the query. */
async function readUpload(
  { body, appendImportFile }: PipelineDeps,
  {
    context,
    route,
    params: path,
  }: {
    readonly context: RequestContext;
    readonly route: Route;
    readonly params: readonly string[];
  },
): Promise<Input> {
  const { query, req, principal: tenant } = context;
  const id = newId("imp");
  const { file, fields } = await receiveUpload(req, body, (number, data) => {
    const call = callOf(context, { route, tenant, admit: undefined, signal: undefined });
    // Each part has the time limit of a request: the whole file may take much longer.
    const deadline = currentTime() + REQUEST_DEADLINE_MS;
    return appendImportFile({ fileId: id, number: BigInt(number), data }, { ...call, deadline });
  });
  const parts = { path, query: [query, fields].filter(Boolean).join("&"), body: undefined };
  return file === undefined ? parts : { ...parts, file: { id, ...file } };
}

async function readInput({
  context,
  route,
  params: path,
  maxBodyBytes,
}: BodyLimits & {
  readonly context: RequestContext;
  readonly route: Route;
  readonly params: readonly string[];
}): Promise<RequestParts> {
  const { query } = context;
  if (!route.hasBody) return { path, query, body: undefined };
  // Query strings get logged, so form parameters are read from the body only (RFC 6749 section 2.3.1).
  if (route.form) return { path, query: "", body: await readForm(context.ctx) };
  return { path, query, body: await readJsonBody(context.req, { maxBodyBytes }) };
}

type Work = {
  readonly route: Route;
  readonly message: Message;
  /** Undefined where the request names no codes. */
  readonly codes: CodeRequest | undefined;
  readonly admit: NonNullable<Call["admit"]>;
  readonly signal: AbortSignal | undefined;
  /** Undefined for requests that are no lists. */
  readonly list: StartedList | undefined;
  /** Set together, for a request with a key: the service stores the response. */
  readonly idempotency?: Call["idempotency"];
  readonly requestKey?: RequestKey;
};

async function callService(
  deps: PipelineDeps,
  context: RequestContext,
  work: Work,
): Promise<HttpResponse> {
  const { route, message, requestKey } = work;
  const tenant = await tenantOf(deps, context, work);
  const call = callOf(context, { ...work, tenant });
  const response = await callWithCodes(deps, work, () => route.invoke(message, call));
  if (isStarted(response)) {
    return {
      status: route.startedStatus,
      contentType: JSON_TYPE,
      body: encodeStarted(response),
    };
  }
  const completed =
    route.complete === undefined
      ? response
      : await route.complete(response, call.project.id, (error) => deps.report(error, context));
  const httpResponse = await toHttpResponse(route, completed, call);
  measure(work, completed, httpResponse);
  if (requestKey === undefined || completed === response) return httpResponse;
  // The service stores the response without what was filled in here, which may differ at a replay.
  const original = await toHttpResponse(route, response, call);
  return deps.completedResponses.storeFirst(requestKey, { original, completed: httpResponse });
}

const measure = (
  { route: { work }, list }: Work,
  response: Message,
  { body }: HttpResponse,
): void => list?.measured({ objects: work.countListed?.(response) ?? 0, bytes: bodyLength(body) });

const callWithCodes = (
  { codeGuessing }: PipelineDeps,
  { codes: request, route: { codes: lookups } }: Work,
  call: () => Promise<Message>,
): Promise<Message> =>
  request === undefined || lookups === undefined
    ? call()
    : countMisses(codeGuessing, { request, lookups }, call);

/** The project of the credentials, or the project in a management path. */
async function tenantOf(
  { findTenant }: PipelineDeps,
  { principal }: RequestContext,
  { route, message }: Work,
): Promise<Tenant | undefined> {
  const field = route.managedProject;
  if (field === undefined) return principal;
  const projectId = (message as Message & Record<string, unknown>)[field] as string;
  const tenant = await findTenant(projectId);
  if (tenant === undefined) throw notFound("project", projectId);
  return tenant;
}

function callOf(
  context: RequestContext,
  {
    route,
    tenant,
    idempotency,
    admit,
    signal,
  }: Pick<Work, "route" | "idempotency" | "signal"> & {
    readonly admit: Call["admit"];
    readonly tenant: Tenant | undefined;
  },
): Call {
  const { principal, requestId, now, res } = context;
  return {
    admit,
    signal,
    isAbandoned: () => res.destroyed,
    project: tenant?.project ?? NO_PROJECT,
    requestId,
    // The time of the request, unless receiving its file took longer than a request may.
    deadline: (route.upload ? currentTime() : now) + REQUEST_DEADLINE_MS,
    now: currentTimeOf(tenant, now),
    caller: principal?.caller ?? (route.side === "management" ? MANAGEMENT : ANYONE),
    ...(idempotency !== undefined && {
      idempotency,
      onReplay: () => {
        context.replayed = true;
      },
    }),
  };
}

const MANAGEMENT: Call["caller"] = { side: "management", id: "management" };
// Image links in e-mails are opened without credentials.
const ANYONE: Call["caller"] = { side: "client", id: "anyone" };

const NO_PROJECT: ProjectContext = { id: "", timeZone: "UTC", caseSensitiveCodes: true };

/** The work continues in an async action, also where the endpoint otherwise returns an object. */
const isStarted = (message: Message): message is AsyncActionStarted =>
  isMessage(message, AsyncActionStartedSchema);

const encodeStarted = createTranscoder().encoderOf(AsyncActionStartedSchema);

/** A call that took effect has stored its response, so a caller that has left needs no encoding. */
async function toHttpResponse(route: Route, message: Message, call: Call): Promise<HttpResponse> {
  const { output, status, encode, encodeInSteps } = route;
  if (output === "empty") return { status, contentType: undefined, body: undefined };
  if (output === "json") {
    const body = encodeInSteps
      ? await runInterleaved(encodeInSteps(message), call)
      : encode(message);
    return { status, contentType: JSON_TYPE, body };
  }
  // `output` is "bytes" exactly for this message.
  const { contentType, data } = message as HttpBody;
  return { status, contentType, body: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
}
