import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { type Binding, LIMITS, type Side } from "@scrip/contract";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";

import { planCampaign } from "../composition/clients/campaigns.ts";
import { type DeletionPlan, planDeletion } from "../composition/deletion.ts";
import {
  planRequiredCampaign,
  type RequiredCampaignPlan,
} from "../composition/resolve-required-campaign.ts";
import {
  type ResponsePlan,
  planResponse,
  planCategory,
  type CategoryPlan,
} from "../composition/response-plan.ts";
import { planRules, type RulesPlan } from "../composition/validation-rules-plan.ts";
import { CLIENT_FEATURES, type ClientFeature } from "../domain/project.ts";
import { canonicalScope, isKnownScope } from "../domain/scope.ts";
import { type MetadataPlan, planMetadata } from "../metadata/metadata-plan.ts";
import { ownServices } from "../public-services.ts";
import type { BoundTranscoder, Transcoder } from "../transcode/index.ts";

/** One path of the contract, with everything that a request to it needs worked out at start. */
export type Route = {
  readonly method: string;
  /** As the contract writes it; what logs and metrics name. */
  readonly template: string;
  readonly segments: readonly string[];
  readonly rpc: DescMethodUnary;
  readonly transport: Transport;
  readonly side: Side;
  /** Empty where the side has no scopes. */
  readonly scope: string;
  /** What the project must allow pages to do; only on the client side. */
  readonly feature: ClientFeature | undefined;
  readonly bulk: boolean;
  /** The field of the query that makes the call a bulk one when it is above 1; empty where none does. */
  readonly bulkCount: string;
  readonly form: boolean;
  /** The least that the limit of a body may be; 0 where the usual one is enough. */
  readonly bodyBytes: number;
  readonly hasBody: boolean;
  readonly status: number;
  readonly cacheSeconds: number;
  /** Who keeps the answer for a repeat: the door, the service in its transaction, or nobody. */
  readonly idempotency: "at_the_door" | "in_service" | "none";
  readonly output: "json" | "empty" | "bytes";
  /** The field that names the project, where credentials do not: the management of other services. */
  readonly managedProject: string | undefined;
  readonly metadata: MetadataPlan | undefined;
  readonly references: CategoryPlan | undefined;
  /** The field that names a campaign by its id or its name. */
  readonly campaign: string | undefined;
  /** The campaign that the request cannot do without. */
  readonly programme: RequiredCampaignPlan | undefined;
  readonly deletion: DeletionPlan | undefined;
  readonly rules: RulesPlan | undefined;
  readonly composed: ResponsePlan | undefined;
  readonly changesCategories: boolean;
} & BoundTranscoder;

export function toRoute(binding: Binding, transport: Transport, transcoder: Transcoder): Route {
  const { method: rpc, access, httpMethod, side } = binding;
  if (!isUnary(rpc)) throw new Error(`${rpc.name}: streams have no HTTP path`);
  const output = outputOf(rpc);
  return {
    method: httpMethod,
    template: binding.path,
    segments: binding.path.slice(1).split("/"),
    rpc,
    transport,
    side,
    scope: scopeOf(binding),
    feature: side === "client" ? featureOf(binding) : undefined,
    bulk: access.bulk,
    bulkCount: access.bulkCount,
    form: access.form,
    bodyBytes: access.large ? LARGE_BODY_BYTES : 0,
    hasBody: httpMethod === "POST" || httpMethod === "PUT" || httpMethod === "PATCH",
    status: access.status === 0 ? (output === "empty" ? 204 : 200) : access.status,
    cacheSeconds: access.cacheSeconds,
    idempotency: idempotencyOf(access.idempotency),
    output,
    managedProject: managedProjectOf(binding),
    metadata: planMetadata(rpc.input),
    references: planCategory(rpc.input),
    campaign: planCampaign(rpc.input),
    programme: planRequiredCampaign(rpc.input),
    deletion: planDeletion(rpc.input),
    rules: planRules(rpc.input),
    composed: planResponse(rpc.output),
    changesCategories: rpc.parent.typeName === CategoryService.typeName && httpMethod !== "GET",
    ...transcoder.bind(binding, access.large ? LARGE_LIMITS : LIMITS),
  };
}

/** Room for the longest lists of the contract: 20,000 ids, or 500 lines of an order with all that is known of them. */
const LARGE_BODY_BYTES = 1024 * 1024;
const LARGE_LIMITS = { ...LIMITS, nodes: 50_000 };

const isUnary = (rpc: DescMethod): rpc is DescMethodUnary => rpc.methodKind === "unary";

function managedProjectOf({ side, method, segments, path }: Binding): string | undefined {
  if (side !== "management" || ownServices.includes(method.parent)) return undefined;
  for (const segment of segments) {
    if (segment.kind === "field" && segment.field.name === "project_id") {
      return segment.field.localName;
    }
  }
  throw new Error(`${path} is of another service and names no project`);
}

function scopeOf({ scope, path }: Binding): string {
  if (scope === undefined || scope === "") return "";
  if (!isKnownScope(scope)) throw new Error(`${path} asks for the unknown scope ${scope}`);
  return canonicalScope(scope);
}

function featureOf({ access, path }: Binding): ClientFeature | undefined {
  if (access.clientFeature === "") return undefined;
  const feature = CLIENT_FEATURES.find((known) => known === access.clientFeature);
  if (feature === undefined) throw new Error(`${path} needs the unknown ${access.clientFeature}`);
  return feature;
}

function outputOf({ output }: DescMethodUnary): Route["output"] {
  if (output.typeName === "google.protobuf.Empty") return "empty";
  return output.typeName === "google.api.HttpBody" ? "bytes" : "json";
}

function idempotencyOf(option: Idempotency): Route["idempotency"] {
  if (option === Idempotency.IN_SERVICE) return "in_service";
  return option === Idempotency.NONE ? "none" : "at_the_door";
}
