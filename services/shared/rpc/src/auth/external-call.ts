import { createHash, hash } from "node:crypto";

import type { DescField, DescMethod, Message } from "@bufbuild/protobuf";
import { accessOf, httpMethodsOf, requiredPathFieldsOf } from "@scrip/contract";
import { invalidPayload, ApiError } from "@scrip/errors";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";

import type { Call } from "../call/call.ts";
import { externalKey, type ReceivedHeaders } from "../call/headers.ts";
import { applyUpdateMask } from "./apply-update-mask.ts";
import { canonicalBytes } from "./canonical-bytes.ts";
import type { ServiceClaims } from "./service-token.ts";

const PROJECT_ID = /^proj_[0-9a-f]{18}$/;

/**
 * Authorizes an external service: it may call the public RPCs of its scopes, in the projects that
 * its token lists.
 */
export function authorizeExternal(
  method: DescMethod,
  claims: ServiceClaims,
  projectId: string,
): void {
  if (projectId === "") throw invalidPayload("Header x-scrip-project is required");
  if (!PROJECT_ID.test(projectId) || !claims.projects.includes(projectId)) {
    throw new ApiError("forbidden", { details: "The token does not grant access to this project" });
  }
  const scope = accessOf(method)?.server ?? "";
  if (scope !== "" && (claims.scopes.includes("api") || claims.scopes.includes(scope))) return;
  const name = `${method.parent.typeName}/${method.name}`;
  const details =
    scope === ""
      ? `${name} is not available to external services`
      : `Scope ${scope} is required for ${name}`;
  throw new ApiError("missing_required_permission", { details });
}

type ExternalRequest = {
  readonly method: DescMethod;
  readonly request: Message;
  readonly claims: ServiceClaims;
};

/** Gives the request of an external call the form in which handlers expect it, and returns the idempotency of the call. */
export function acceptExternal(
  sent: ExternalRequest,
  headers: ReceivedHeaders,
): Call["idempotency"] {
  // Of the request as it was sent.
  const idempotency = externalIdempotency(sent, headers);
  requireIds(sent.method, sent.request);
  applyUpdateMask(sent.method, sent.request);
  return idempotency;
}

/** Over HTTP, a path without an id is unknown. Here it would be the id of nothing, which some RPCs store. */
export function requireIds(method: DescMethod, request: Message): void {
  if (!idsOf.has(method)) idsOf.set(method, requiredPathFieldsOf(method));
  for (const { localName, name } of idsOf.get(method) ?? []) {
    if (((request as Fields)[localName] ?? "") === "") {
      throw invalidPayload(`Payload should have required property '${name}'`);
    }
  }
}

type Fields = Message & Readonly<Record<string, unknown>>;

const idsOf = new Map<DescMethod, readonly DescField[]>();

/** As over HTTP: each POST and PUT whose response has no secrets. */
const storesResponses = (method: DescMethod): boolean =>
  accessOf(method)?.idempotency !== Idempotency.NONE &&
  httpMethodsOf(method).some((verb) => verb !== "GET" && verb !== "DELETE");

/**
 * The idempotency of an external call: the key is scoped to the caller and the RPC, and the hash
 * covers the received message, as at the HTTP edge.
 */
export function externalIdempotency(
  { method, request, claims }: ExternalRequest,
  headers: ReceivedHeaders,
): Call["idempotency"] {
  const key = externalKey(headers);
  if (key === undefined) return undefined;
  if (!storesResponses(method)) {
    throw new ApiError("invalid_idempotency_key", {
      details: `${method.name} stores no responses over gRPC; send it without a key`,
    });
  }
  const scope = `${method.parent.typeName}/${method.name}\n${key}`;
  return {
    key: `service:${claims.name}:${hash("sha256", scope, "base64url")}`,
    requestHash: createHash("sha256").update(canonicalBytes(method.input, request)).digest(),
  };
}
