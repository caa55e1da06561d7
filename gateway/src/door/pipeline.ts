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
import type { KeptAnswers } from "../idempotency/at-the-door.ts";
import { hashRequest, readKey, scopeKey } from "../idempotency/request-key.ts";
import { refuseMetadata } from "../metadata/enforce.ts";
import type { FindSchemas } from "../metadata/schemas.ts";
import { withRules } from "../references/assign.ts";
import { resolveCampaign, voucherOfCampaign } from "../references/campaigns.ts";
import { composeAnswer, type Sources } from "../references/compose.ts";
import { type Deletion, refuseInUse, revokeRulesOf } from "../references/deletion.ts";
import { orPlain } from "../references/or-plain.ts";
import { resolveProgramme } from "../references/programmes.ts";
import { resolveRequest } from "../references/resolve.ts";
import type { RequestKey } from "../store/idempotency.ts";
import type { RequestParts } from "../transcode/index.ts";
import { refuseAccept } from "./accept.ts";
import { admit, type AdmitDeps } from "./admit.ts";
import { type BodyLimits, readForm, readJsonBody } from "./body.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { JSON_TYPE } from "./failure.ts";
import type { Route } from "./route.ts";

export type PipelineDeps = AdmitDeps & {
  readonly body: BodyLimits;
  readonly answers: KeptAnswers;
  readonly references: Sources;
  readonly findSchemas: FindSchemas;
  readonly findTenant: (projectId: string) => Promise<Tenant | undefined>;
  /** Turns what the call threw into its answer, which may be kept for repeats. */
  readonly fail: (thrown: unknown, exchange: Exchange) => Answer;
  /** Told what went wrong without failing the request. */
  readonly report: (error: unknown, exchange: Exchange) => void;
};

/**
 * What happens to every request, whatever it asks for: who, may they, how often, what, then the
 * call. Nothing here knows a resource; all of that is in the contract.
 */
export async function answerRoute(
  deps: PipelineDeps,
  exchange: Exchange,
  route: Route,
  params: readonly string[],
): Promise<Answer> {
  await admit(deps, exchange, route);
  if (route.output === "json") refuseAccept(exchange.req.headers.accept);
  const key = keyOf(exchange, route);
  const input = await readInput(deps, exchange, route, params);
  const message = route.decode(input);
  if (key === undefined) return perform(deps, exchange, { route, message });

  const named = nameRequest(exchange, route, key, input.body);
  if (route.idempotency === "in_service") {
    const idempotency = { key: named.scopedKey, requestHash: named.requestHash };
    return perform(deps, exchange, { route, message, idempotency, named });
  }
  const { answer, replayed } = await deps.answers.once(named, () =>
    perform(deps, exchange, { route, message }).catch((thrown: unknown) =>
      deps.fail(thrown, exchange),
    ),
  );
  exchange.replayed = replayed;
  return answer;
}

function nameRequest(
  { principal, path, query }: Exchange,
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

function keyOf({ req }: Exchange, route: Route): string | undefined {
  if (!route.hasBody || route.idempotency === "none") return undefined;
  return readKey(req.headers["idempotency-key"]);
}

async function readInput(
  deps: PipelineDeps,
  exchange: Exchange,
  route: Route,
  path: readonly string[],
): Promise<RequestParts> {
  const { query } = exchange;
  if (!route.hasBody) return { path, query, body: undefined };
  // What a form holds must not stand in an address, which gets logged (RFC 6749 §2.3.1).
  if (route.form) return { path, query: "", body: await readForm(exchange.ctx) };
  const maxBodyBytes = Math.max(deps.body.maxBodyBytes, route.bodyBytes);
  return { path, query, body: await readJsonBody(exchange.req, { maxBodyBytes }) };
}

type Work = {
  readonly route: Route;
  readonly message: Message;
  /** Both of a request whose answer the service keeps. */
  readonly idempotency?: Call["idempotency"];
  readonly named?: RequestKey;
};

async function perform(deps: PipelineDeps, exchange: Exchange, work: Work): Promise<Answer> {
  const { references } = deps;
  const { route, message, idempotency, named } = work;
  const tenant = await tenantOf(deps, exchange, work);
  const projectId = tenant?.project.id ?? "";
  await checkMetadata(deps, work, projectId);
  const call = callOf(exchange, { route, tenant, idempotency });
  const deletion = route.deletion && { plan: route.deletion, message, call };
  const answered = await deleting(references.rules, deletion, () =>
    withRules(references.rules, { plan: route.rules, message, call }, async (sent) =>
      send(references, route, await resolved(deps, route, sent, projectId), call),
    ),
  );
  if (route.changesCategories) references.categories?.forget(projectId);
  if (route.composed === undefined) return toAnswer(route, answered);
  const composing = composeAnswer(route.composed, answered, references, projectId);
  const whole = await (route.method === "GET"
    ? composing
    : orPlain(composing, answered, (error) => deps.report(error, exchange)));
  const answer = await toAnswer(route, whole);
  // What the service keeps lacks what is filled in here, and that may be another thing by the time of
  // a repeat.
  if (named === undefined || whole === answered) return answer;
  return deps.answers.keepFirst(named, { of: await toAnswer(route, answered), answer });
}

/** The call that the route stands for, or that of whoever makes such a thing in its place. */
function send(
  { campaigns }: Sources,
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
  rules: Sources["rules"],
  deletion: Deletion | undefined,
  make: () => Promise<Message>,
): Promise<Message> {
  if (deletion === undefined || rules === undefined) return make();
  await refuseInUse(rules, deletion);
  const answered = await make();
  await revokeRulesOf(rules, deletion);
  return answered;
}

function resolved(
  { references: { campaigns, categories } }: PipelineDeps,
  { references: plan, campaign, programme }: Route,
  message: Message,
  projectId: string,
): Message | Promise<Message> {
  if (programme !== undefined && campaigns !== undefined) {
    return resolveProgramme(programme, message, { campaigns, projectId });
  }
  if (campaign !== undefined && campaigns !== undefined) {
    return resolveCampaign(campaign, message, { campaigns, projectId });
  }
  if (plan === undefined || categories === undefined) return message;
  return resolveRequest(plan, message, categories, projectId);
}

/** Before anything is made on the way, such as a category by its name. */
async function checkMetadata(
  { findSchemas }: PipelineDeps,
  { route, message }: Work,
  projectId: string,
): Promise<void> {
  if (route.metadata === undefined) return;
  const schemas = await findSchemas(projectId);
  if (schemas !== undefined) refuseMetadata(route.metadata, message, schemas);
}

/** The project of the credentials, or the one that a management path names. */
async function tenantOf(
  { findTenant }: PipelineDeps,
  { principal }: Exchange,
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
  exchange: Exchange,
  {
    route,
    tenant,
    idempotency,
  }: Pick<Work, "route" | "idempotency"> & { readonly tenant: Tenant | undefined },
): Call {
  const { principal, requestId, now } = exchange;
  return {
    project: tenant?.project ?? NO_PROJECT,
    requestId,
    deadline: now + REQUEST_DEADLINE_MS,
    now: tenant?.sandboxNow ?? now,
    caller: principal?.caller ?? (route.side === "management" ? MANAGEMENT : ANYONE),
    ...(idempotency !== undefined && {
      idempotency,
      onReplay: () => {
        exchange.replayed = true;
      },
    }),
  };
}

const MANAGEMENT: Call["caller"] = { side: "management", id: "management" };
// A link in a mail: whoever follows it, from outside.
const ANYONE: Call["caller"] = { side: "client", id: "anyone" };

const NO_PROJECT: ProjectContext = { id: "", timeZone: "UTC", caseSensitiveCodes: true };

async function toAnswer(route: Route, message: Message): Promise<Answer> {
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
