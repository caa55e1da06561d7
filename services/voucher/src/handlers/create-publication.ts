import { ApiError } from "@scrip/errors";
import type {
  Publication,
  PublicationService,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { upsertCustomer } from "../loading/customers.ts";
import { loadPublications, toPublication } from "../loading/publications.ts";
import { publish, type PublishOutcome } from "../publication/attempt.ts";
import { failedPublication } from "../publication/build-publication.ts";
import {
  identityOf,
  parsePublication,
  type PublicationAttempt,
  type Wanted,
} from "../publication/parse-request.ts";
import { findPublication, insertPublication } from "../store/publications.ts";

/** How often vouchers that others hold are waited for: each time somebody else got some of them. */
const MAX_ATTEMPTS = 50;

export const createPublication =
  (deps: Deps): Handler<typeof PublicationService.method.createPublication> =>
  async (request, call) => {
    const wanted = await parsePublication(deps, request, call);
    const made = await makePublication(deps, wanted, call);
    return call.caller.side === "client" ? forPages(made) : made;
  };

/** A page is told which customer it named, and nothing that is stored of him. */
const forPages = (made: Publication): Publication => ({
  ...made,
  ...(made.customer !== undefined && { customer: identityOf(made.customer) }),
});

/** Publishes what is wanted, or answers what was published before to who joins once. */
export async function makePublication(
  deps: Deps,
  wanted: Wanted,
  call: Call,
): Promise<Publication> {
  const customer = await upsertCustomer(deps, wanted.customer, call);
  const attempt = { wanted, customer, call };
  const outcome = await publishInTurn(deps, attempt);
  switch (outcome.kind) {
    case "published":
      deps.onEvents();
      return toPublication({ ...outcome, customer });
    case "joined_before":
      return existing(deps, outcome.publicationId, call);
    default:
      return refuse(deps, attempt, outcome);
  }
}

type Outcome = Exclude<PublishOutcome, { kind: "held" }>;

async function publishInTurn(deps: Deps, attempt: PublicationAttempt): Promise<Outcome> {
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    if (Date.now() > attempt.call.deadline) throw new ApiError("deadline_exceeded");
    const outcome = await publish(deps, attempt, { waits: count > 0 });
    if (outcome.kind !== "held") return outcome;
  }
  throw new ApiError("service_unavailable", {
    details: "The vouchers of the campaign are being published to others; try again",
  });
}

/** Nothing new: what the customer was given when they joined. */
async function existing(deps: Deps, publicationId: string, call: Call): Promise<Publication> {
  const stored = await findPublication(deps.db, call.project.id, publicationId);
  if (stored === undefined) throw new Error(`the publication ${publicationId} of a holder is gone`);
  const [publication] = await loadPublications(deps, [stored], call);
  if (publication === undefined) throw new Error("a publication was not loaded");
  return publication;
}

/** Keeps what was refused, and refuses it. A repeated source id is no news. */
async function refuse(
  deps: Deps,
  attempt: PublicationAttempt,
  { key, details }: Extract<Outcome, { kind: "refused" }>,
): Promise<never> {
  const refusal = new ApiError(key, { details });
  if (key === "duplicate_source_id") throw refusal;
  const { source } = attempt.wanted;
  const failed = failedPublication(deps.newId("pub"), attempt, {
    code: key,
    message: refusal.message,
  });
  await insertPublication(deps.db, failed, {
    voucherCode: source.kind === "voucher" ? source.voucher.definition.code : null,
    requestId: attempt.call.requestId,
  });
  throw refusal;
}
