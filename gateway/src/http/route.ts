import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { type Binding, LIMITS, type Side } from "@scrip/contract";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";
import { type CodeLookups, codeLookupsOf, invoke } from "@scrip/rpc";

import {
  compileCompletion,
  type CompleteResponse,
  composeCall,
  type CompositionDeps,
  type Invoke,
} from "../composition/index.ts";
import { CLIENT_FEATURES, type ClientFeature } from "../domain/project.ts";
import { canonicalScope, isKnownScope } from "../domain/scope.ts";
import { ownServices } from "../public-services.ts";
import type { BoundTranscoder, Transcoder } from "../transcode/index.ts";
import { compileWork, type RequestWork } from "./request-work.ts";

/** An endpoint of the contract: a method and path with everything compiled that requests to it need. */
export type Route = {
  readonly method: string;
  /** The path as the contract writes it; logs and metrics name routes by it. */
  readonly template: string;
  readonly segments: readonly string[];
  readonly side: Side;
  /** Empty on sides without scopes. */
  readonly scope: string;
  /** The feature that the project must enable for client-side callers. */
  readonly feature: ClientFeature | undefined;
  readonly bulk: boolean;
  /** The query parameter that makes the call a bulk call when it is above 1, or an empty string. */
  readonly bulkCount: string;
  readonly form: boolean;
  /** The body is a file, whose id the message gets. */
  readonly upload: boolean;
  /** Lower bound of the body size limit; 0 where the configured limit applies. */
  readonly bodyBytes: number;
  readonly hasBody: boolean;
  readonly status: number;
  /** HTTP status of a response that is a started async action. */
  readonly startedStatus: number;
  readonly cacheSeconds: number;
  /** Whether the owning service stores the response to an Idempotency-Key. */
  readonly isIdempotent: boolean;
  readonly output: "json" | "empty" | "bytes";
  /** Undefined where requests name no codes. */
  readonly codes: CodeLookups | undefined;
  /** The path field that names the project, for management endpoints of other services. */
  readonly managedProject: string | undefined;
  readonly work: RequestWork;
  /** The RPC, wrapped in the composition steps that it needs. */
  readonly invoke: Invoke;
  /** Undefined where responses refer to no other service. */
  readonly complete: CompleteResponse | undefined;
} & BoundTranscoder;

export type RouteDeps = {
  readonly transport: Transport;
  readonly transcoder: Transcoder;
  readonly composition: CompositionDeps;
};

export function toRoute(
  binding: Binding,
  { transport, transcoder, composition }: RouteDeps,
): Route {
  const { method: rpc, access, httpMethod, side } = binding;
  if (!isUnary(rpc)) throw new Error(`${rpc.name}: a streaming RPC cannot have an HTTP path`);
  const output = outputOf(rpc);
  return {
    method: httpMethod,
    template: binding.path,
    segments: binding.path.slice(1).split("/"),
    side,
    scope: scopeOf(binding),
    feature: side === "client" ? featureOf(binding) : undefined,
    bulk: access.bulk,
    bulkCount: access.bulkCount,
    form: access.form,
    upload: access.upload,
    bodyBytes: access.bulkBody ? BULK_BODY_BYTES : access.large ? LARGE_BODY_BYTES : 0,
    hasBody: httpMethod === "POST" || httpMethod === "PUT" || httpMethod === "PATCH",
    status: access.status === 0 ? (output === "empty" ? 204 : 200) : access.status,
    startedStatus: access.status === 0 ? 202 : access.status,
    cacheSeconds: access.cacheSeconds,
    isIdempotent: access.idempotency !== Idempotency.NONE,
    output,
    codes: codeLookupsOf(binding.method),
    managedProject: managedProjectOf(binding),
    work: compileWork(binding),
    invoke: composeCall(
      { rpc, httpMethod, side },
      (message, call) => invoke(transport, rpc, message, call),
      composition,
    ),
    complete: compileCompletion({ rpc, httpMethod, side }, composition),
    ...transcoder.bind(
      binding,
      access.bulkBody ? BULK_LIMITS : access.large ? LARGE_LIMITS : LIMITS,
    ),
  };
}

/** Room for the longest lists of the contract: 20,000 ids, or an order with 500 complete lines. */
const LARGE_BODY_BYTES = 1024 * 1024;
const LARGE_LIMITS = { ...LIMITS, nodes: 50_000 };

/** Imports and bulk updates. */
const BULK_BODY_BYTES = 10 * 1024 * 1024;
const BULK_LIMITS = { ...LIMITS, nodes: 1_000_000 };

const isUnary = (rpc: DescMethod): rpc is DescMethodUnary => rpc.methodKind === "unary";

function managedProjectOf({ side, method, segments, path }: Binding): string | undefined {
  if (side !== "management" || ownServices.includes(method.parent)) return undefined;
  for (const segment of segments) {
    if (segment.kind === "field" && segment.field.name === "project_id") {
      return segment.field.localName;
    }
  }
  throw new Error(`${path} must have a {project_id}: it is a management path of another service`);
}

function scopeOf({ scope, path }: Binding): string {
  if (scope === undefined || scope === "") return "";
  if (!isKnownScope(scope)) throw new Error(`${path} requires the unknown scope ${scope}`);
  return canonicalScope(scope);
}

function featureOf({ access, path }: Binding): ClientFeature | undefined {
  if (access.clientFeature === "") return undefined;
  const feature = CLIENT_FEATURES.find((known) => known === access.clientFeature);
  if (feature === undefined)
    throw new Error(`${path} requires the unknown client feature ${access.clientFeature}`);
  return feature;
}

function outputOf({ output }: DescMethodUnary): Route["output"] {
  if (output.typeName === "google.protobuf.Empty") return "empty";
  return output.typeName === "google.api.HttpBody" ? "bytes" : "json";
}
