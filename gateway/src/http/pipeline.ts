import type { Message } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import type { HttpBody } from "@scrip/proto/google/api/httpbody_pb";
import {
  type Call,
  runInterleaved,
  invoke,
  type ProjectContext,
  REQUEST_DEADLINE_MS,
} from "@scrip/rpc";

import type { Tenant } from "../auth/principal.ts";
import { assignValidationRules } from "../composition/assign-validation-rules.ts";
import { resolveCampaign, voucherOfCampaign } from "../composition/clients/campaigns.ts";
import { completeOrFallBack } from "../composition/complete-or-fall-back.ts";
import { completeResponse, type CompositionClients } from "../composition/complete-response.ts";
import { type Deletion, rejectIfInUse, deleteAssignmentsOf } from "../composition/deletion.ts";
import { resolveCategory } from "../composition/resolve-category.ts";
import { resolveRequiredCampaign } from "../composition/resolve-required-campaign.ts";
import { hashRequest, readIdempotencyKey, scopeKey } from "../idempotency/idempotency-key.ts";
import type { StoredResponses } from "../idempotency/stored-responses.ts";
import { enforceMetadataSchemas } from "../metadata/enforce-metadata-schema.ts";
import type { FindSchemas } from "../metadata/metadata-schema-cache.ts";
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
  readonly answers: StoredResponses;
  readonly references: CompositionClients;
  readonly findSchemas: FindSchemas;
  readonly findTenant: (projectId: string) => Promise<Tenant | undefined>;
  /** Turns what the call threw into its answer, which may be kept for repeats. */
  readonly fail: (thrown: unknown, context: RequestContext) => HttpResponse;
  /** Told what went wrong without failing the request. */
  readonly report: (error: unknown, context: RequestContext) => void;
};

/**
 * What happens to every request, whatever it asks for: who, may they, how often, what, then the
 * call. Nothing here knows a resource; all of that is in the contract.
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
  if (key === undefined) return perform(deps, context, { route, message });

  const named = requestKeyOf(context, route, key, input.body);
  if (route.idempotency === "in_service") {
    const idempotency = { key: named.scopedKey, requestHash: named.requestHash };
    return perform(deps, context, { route, message, idempotency, named });
  }
  const { answer, replayed } = await deps.answers.once(named, () =>
    perform(deps, context, { route, message }).catch((thrown: unknown) =>
      deps.fail(thrown, context),
    ),
  );
  context.replayed = replayed;
  return answer;
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
  if (!route.hasBody || route.idempotency === "none") return undefined;
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
  // What a form holds must not stand in an address, which gets logged (RFC 6749 §2.3.1).
  if (route.form) return { path, query: "", body: await readForm(context.ctx) };
  const maxBodyBytes = Math.max(deps.body.maxBodyBytes, route.bodyBytes);
  return { path, query, body: await readJsonBody(context.req, { maxBodyBytes }) };
}

type Work = {
  readonly route: Route;
  readonly message: Message;
  /** Both of a request whose answer the service keeps. */
  readonly idempotency?: Call["idempotency"];
  readonly named?: RequestKey;
};

async function perform(
  deps: PipelineDeps,
  context: RequestContext,
  work: Work,
): Promise<HttpResponse> {
  const { references } = deps;
  const { route, message, idempotency, named } = work;
  const tenant = await tenantOf(deps, context, work);
  const projectId = tenant?.project.id ?? "";
  await checkMetadata(deps, work, projectId);
  const call = callOf(context, { route, tenant, idempotency });
  const deletion = route.deletion && { plan: route.deletion, message, call };
  const answered = await deleting(references.rules, deletion, () =>
    assignValidationRules(references.rules, { plan: route.rules, message, call }, async (sent) =>
      send(references, route, await resolved(deps, route, sent, projectId), call),
    ),
  );
  if (route.changesCategories) references.categories?.evict(projectId);
  if (route.composed === undefined) return toHttpResponse(route, answered);
  const composing = completeResponse(route.composed, answered, references, projectId);
  const whole = await (route.method === "GET"
    ? composing
    : completeOrFallBack(composing, answered, (error) => deps.report(error, context)));
  const answer = await toHttpResponse(route, whole);
  // What the service keeps lacks what is filled in here, and that may be another thing by the time of
  // a repeat.
  if (named === undefined || whole === answered) return answer;
  return deps.answers.storeFirst(named, { of: await toHttpResponse(route, answered), answer });
}

/** The call that the route stands for, or that of whoever makes such a thing in its place. */
function send(
  { campaigns }: CompositionClients,
  route: Route,
  message: Message,
  call: Call,
): Promise<Message> {
  const voucher = voucherOfCampaign(message);
  return voucher === undefined || campaigns === undefined
    ? invoke(route.transport, route.rpc, message, call)
    : campaigns.createVoucher(voucher, call);
}

/** Around a call that deletes what validation rules have to do with; others are just made. */
async function deleting(
  rules: CompositionClients["rules"],
  deletion: Deletion | undefined,
  make: () => Promise<Message>,
): Promise<Message> {
  if (deletion === undefined || rules === undefined) return make();
  await rejectIfInUse(rules, deletion);
  const answered = await make();
  await deleteAssignmentsOf(rules, deletion);
  return answered;
}

function resolved(
  { references: { campaigns, categories } }: PipelineDeps,
  { references: plan, campaign, programme }: Route,
  message: Message,
  projectId: string,
): Message | Promise<Message> {
  if (programme !== undefined && campaigns !== undefined) {
    return resolveRequiredCampaign(programme, message, { campaigns, projectId });
  }
  if (campaign !== undefined && campaigns !== undefined) {
    return resolveCampaign(campaign, message, { campaigns, projectId });
  }
  if (plan === undefined || categories === undefined) return message;
  return resolveCategory(plan, message, categories, projectId);
}

/** Before anything is made on the way, such as a category by its name. */
async function checkMetadata(
  { findSchemas }: PipelineDeps,
  { route, message }: Work,
  projectId: string,
): Promise<void> {
  if (route.metadata === undefined) return;
  const schemas = await findSchemas(projectId);
  if (schemas !== undefined) enforceMetadataSchemas(route.metadata, message, schemas);
}

/** The project of the credentials, or the one that a management path names. */
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
    now: tenant?.sandboxNow ?? now,
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
// A link in a mail: whoever follows it, from outside.
const ANYONE: Call["caller"] = { side: "client", id: "anyone" };

const NO_PROJECT: ProjectContext = { id: "", timeZone: "UTC", caseSensitiveCodes: true };

async function toHttpResponse(route: Route, message: Message): Promise<HttpResponse> {
  const { output, status, encode, encodeInSteps } = route;
  if (output === "empty") return { status, contentType: undefined, body: undefined };
  if (output === "json") {
    // What was done is answered, however late.
    const body = encodeInSteps
      ? await runInterleaved(encodeInSteps(message), Number.POSITIVE_INFINITY)
      : encode(message);
    return { status, contentType: JSON_TYPE, body };
  }
  // The route says so: bytes are what google.api.HttpBody is for.
  const { contentType, data } = message as HttpBody;
  return { status, contentType, body: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
}
