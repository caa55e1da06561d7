import type { Message } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import type { HttpBody } from "@scrip/proto/google/api/httpbody_pb";
import { type Call, runInterleaved, type ProjectContext, REQUEST_DEADLINE_MS } from "@scrip/rpc";

import type { Tenant } from "../auth/principal.ts";
import { currentTimeOf } from "../domain/sandbox-clock.ts";
import type { CompletedResponses } from "../idempotency/completed-responses.ts";
import { hashRequest, readIdempotencyKey, scopeKey } from "../idempotency/idempotency-key.ts";
import type { RequestKey } from "../store/idempotency.ts";
import type { RequestParts } from "../transcode/index.ts";
import { requireJsonAccepted } from "./accept-header.ts";
import { authorize, type AuthorizeDeps } from "./authorize.ts";
import { type BodyLimits, readForm, readJsonBody } from "./body.ts";
import { JSON_TYPE } from "./error-response.ts";
import type { HttpResponse, RequestContext } from "./request-context.ts";
import type { Route } from "./route.ts";

export type PipelineDeps = AuthorizeDeps & {
  readonly body: BodyLimits;
  readonly completedResponses: CompletedResponses;
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
  const input = await readInput(deps, context, route, params);
  const message = route.decode(input);
  if (key === undefined) return callService(deps, context, { route, message });

  const requestKey = requestKeyOf(context, route, key, input.body);
  const idempotency = { key: requestKey.scopedKey, requestHash: requestKey.requestHash };
  return callService(deps, context, { route, message, idempotency, requestKey });
}

function requestKeyOf(
  { principal, path, query }: RequestContext,
  { method }: Route,
  key: string,
  body: Buffer | undefined,
): RequestKey {
  const appId = principal?.keyId ?? "management";
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

async function readInput(
  deps: PipelineDeps,
  context: RequestContext,
  route: Route,
  path: readonly string[],
): Promise<RequestParts> {
  const { query } = context;
  if (!route.hasBody) return { path, query, body: undefined };
  // Query strings get logged, so form parameters are read from the body only (RFC 6749 section 2.3.1).
  if (route.form) return { path, query: "", body: await readForm(context.ctx) };
  const maxBodyBytes = Math.max(deps.body.maxBodyBytes, route.bodyBytes);
  return { path, query, body: await readJsonBody(context.req, { maxBodyBytes }) };
}

type Work = {
  readonly route: Route;
  readonly message: Message;
  /** Set together, for a request with a key: the service stores the response. */
  readonly idempotency?: Call["idempotency"];
  readonly requestKey?: RequestKey;
};

async function callService(
  deps: PipelineDeps,
  context: RequestContext,
  work: Work,
): Promise<HttpResponse> {
  const { route, message, idempotency, requestKey } = work;
  const tenant = await tenantOf(deps, context, work);
  const call = callOf(context, { route, tenant, idempotency });
  const response = await route.invoke(message, call);
  if (route.complete === undefined) return toHttpResponse(route, response);
  const completed = await route.complete(response, call.project.id, (error) =>
    deps.report(error, context),
  );
  const httpResponse = await toHttpResponse(route, completed);
  if (requestKey === undefined || completed === response) return httpResponse;
  // The service stores the response without what was filled in here, which may differ at a replay.
  const original = await toHttpResponse(route, response);
  return deps.completedResponses.storeFirst(requestKey, { original, completed: httpResponse });
}

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
  }: Pick<Work, "route" | "idempotency"> & { readonly tenant: Tenant | undefined },
): Call {
  const { principal, requestId, now } = context;
  return {
    project: tenant?.project ?? NO_PROJECT,
    requestId,
    deadline: now + REQUEST_DEADLINE_MS,
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

async function toHttpResponse(route: Route, message: Message): Promise<HttpResponse> {
  const { output, status, encode, encodeInSteps } = route;
  if (output === "empty") return { status, contentType: undefined, body: undefined };
  if (output === "json") {
    // The call took effect, so its response is encoded however long that takes.
    const body = encodeInSteps
      ? await runInterleaved(encodeInSteps(message), Number.POSITIVE_INFINITY)
      : encode(message);
    return { status, contentType: JSON_TYPE, body };
  }
  // `output` is "bytes" exactly for this message.
  const { contentType, data } = message as HttpBody;
  return { status, contentType, body: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
}
