import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Publication } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { upsertCustomer } from "../loading/customers.ts";
import { loadPublications } from "../loading/publications.ts";
import { publicationToProto } from "../mapping/publication.ts";
import type { StoredCampaign } from "../store/campaigns.ts";
import { findPublication, findPublishedUnder, insertPublication } from "../store/publications.ts";
import { attemptPublication, type PublishOutcome } from "./attempt.ts";
import { failedPublication } from "./build-publication.ts";
import type { PublicationAttempt, PublicationInput } from "./parse-request.ts";

/** Channel of publications by background work. */
const AUTOMATION = "Automation";

/** Attempts that wait for vouchers locked by others; each one lost vouchers to another publication. */
const MAX_ATTEMPTS = 50;

/** Publishes, or returns the existing publication of a customer who may join only once. */
export async function publish(
  deps: Deps,
  input: PublicationInput,
  call: Call,
): Promise<Publication> {
  const customer = await upsertCustomer(deps, input.customer, call);
  const attempt = { input, customer, call };
  const outcome = await publishWithRetries(deps, attempt);
  switch (outcome.kind) {
    case "published":
      deps.onEvents();
      return publicationToProto({ ...outcome, customer });
    case "already_joined":
      return loadEarlierPublication(deps, outcome.publicationId, call);
    default:
      return recordRejection(deps, attempt, outcome);
  }
}

/**
 * Publishes one voucher of a campaign to a customer who has none, and returns its id, or that of the oldest one they
 * have. A rejection is thrown and not recorded.
 */
export async function publishOnce(
  deps: Deps,
  {
    customer,
    campaign,
    call,
  }: {
    readonly customer: StoredCustomer;
    readonly campaign: StoredCampaign;
    readonly call: Call;
  },
): Promise<string> {
  const input: PublicationInput = {
    customer: { $typeName: "scrip.common.v1.Customer", id: customer.id },
    source: { kind: "campaign", campaign, count: 1 },
    joinOnce: true,
    sourceId: null,
    metadata: {},
    channel: AUTOMATION,
  };
  const outcome = await publishWithRetries(deps, { input, customer, call });
  if (outcome.kind === "rejected") throw new ApiError(outcome.key, { details: outcome.details });
  if (outcome.kind === "already_joined") return outcome.voucherId;
  deps.onEvents();
  const [voucher] = outcome.vouchers;
  if (voucher === undefined) throw new Error("a publication has a voucher");
  return voucher.definition.id;
}

/** Publishes vouchers of a campaign under a source id, once, and returns the ids of those that are published under it. */
export async function publishUnderSource(
  deps: Deps,
  {
    customer,
    campaign,
    call,
    sourceId,
    count,
  }: {
    readonly customer: StoredCustomer;
    readonly campaign: StoredCampaign;
    readonly call: Call;
    readonly sourceId: string;
    readonly count: number;
  },
): Promise<readonly string[]> {
  const published = await findPublishedUnder(deps.db, call.project.id, sourceId);
  if (published.length > 0) return published;
  const input: PublicationInput = {
    customer: { $typeName: "scrip.common.v1.Customer", id: customer.id },
    source: { kind: "campaign", campaign, count },
    joinOnce: false,
    sourceId,
    metadata: {},
    channel: AUTOMATION,
  };
  const outcome = await publishWithRetries(deps, { input, customer, call });
  if (outcome.kind === "rejected" && outcome.key !== "duplicate_source_id") {
    throw new ApiError(outcome.key, { details: outcome.details });
  }
  deps.onEvents();
  return findPublishedUnder(deps.db, call.project.id, sourceId);
}

type Outcome = Exclude<PublishOutcome, { kind: "locked" }>;

async function publishWithRetries(deps: Deps, attempt: PublicationAttempt): Promise<Outcome> {
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    if (currentTime() > attempt.call.deadline) throw new ApiError("deadline_exceeded");
    const outcome = await attemptPublication(deps, attempt, { waits: count > 0 });
    if (outcome.kind !== "locked") return outcome;
  }
  throw new ApiError("service_unavailable", {
    details: "The vouchers of the campaign are being published to others; try again",
  });
}

/** The publication that the customer joined with. */
async function loadEarlierPublication(
  deps: Deps,
  publicationId: string,
  call: Call,
): Promise<Publication> {
  const stored = await findPublication(deps.db, call.project.id, publicationId);
  if (stored === undefined)
    throw new Error(`publication ${publicationId} of a holder does not exist`);
  const [publication] = await loadPublications(deps, [stored], call);
  if (publication === undefined) throw new Error("a publication was not loaded");
  return publication;
}

/** Records a failed publication and rejects the request. A repeated source id is not recorded. */
async function recordRejection(
  deps: Deps,
  attempt: PublicationAttempt,
  { key, details }: Extract<Outcome, { kind: "rejected" }>,
): Promise<never> {
  const rejection = new ApiError(key, { details });
  if (key === "duplicate_source_id") throw rejection;
  const { source } = attempt.input;
  const failed = failedPublication(deps.newId("pub"), attempt, {
    code: key,
    message: rejection.message,
  });
  await insertPublication(deps.db, failed, {
    voucherCode: source.kind === "voucher" ? source.voucher.definition.code : null,
    requestId: attempt.call.requestId,
  });
  throw rejection;
}
