import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { type EarlierPublication, joinsOnce } from "../domain/join-once.ts";
import { hasLimits } from "../domain/loyalty-card.ts";
import {
  decidePublication,
  publishTo,
  type RejectedPublication,
} from "../domain/publication-decision.ts";
import { loyaltyCardChanged } from "../events/loyalty-card-changed.ts";
import { voucherPublished } from "../events/voucher-published.ts";
import { lockMembership } from "../store/campaigns.ts";
import {
  findHoldingInCampaign,
  findHolding,
  insertHolders,
  type PublishedHolder,
} from "../store/holders.ts";
import { insertPublication, isSourceTaken, type StoredPublication } from "../store/publications.ts";
import { updatePublished } from "../store/unpublished-vouchers.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";
import { succeededPublication } from "./build-publication.ts";
import { claimVouchers, type ClaimResult } from "./claim-vouchers.ts";
import type { PublicationAttempt } from "./parse-request.ts";

export type PublishOutcome =
  | {
      readonly kind: "published";
      readonly publication: StoredPublication;
      readonly vouchers: readonly StoredVoucher[];
    }
  | ({ readonly kind: "already_joined" } & EarlierPublication)
  /** Other publications lock the remaining vouchers of the campaign. */
  | { readonly kind: "locked" }
  | RejectedPublication;

/**
 * Publishes in one transaction, which is rolled back unless it publishes. Lock order: the customer's membership
 * in the campaign, then vouchers.
 */
export function attemptPublication(
  deps: Deps,
  attempt: PublicationAttempt,
  { waits }: { readonly waits: boolean },
): Promise<PublishOutcome> {
  return deps.db
    .transaction(async (tx) => {
      const claimed = await claim(tx, deps, { ...attempt, waits });
      if (claimed.kind !== "claimed") throw new NotPublished(claimed);
      return await write(tx, deps, { ...attempt, claimed });
    })
    .catch((error: unknown) => {
      if (error instanceof NotPublished) return error.outcome;
      throw error;
    });
}

/** Rolls the transaction back and carries its outcome. */
class NotPublished extends Error {
  readonly outcome: PublishOutcome;
  constructor(outcome: PublishOutcome) {
    super("nothing was published");
    this.outcome = outcome;
  }
}

type Attempt = PublicationAttempt & { readonly waits: boolean };

async function claim(
  tx: Queryable,
  deps: Deps,
  attempt: Attempt,
): Promise<ClaimResult | Exclude<PublishOutcome, { kind: "published" }>> {
  const { input, customer, call, waits } = attempt;
  const { source, sourceId } = input;
  const projectId = call.project.id;
  const joinOnce = joinsOnce(input.joinOnce, source.campaign);
  if (joinOnce && source.campaign !== null) {
    await lockMembership(tx, {
      projectId,
      campaignId: source.campaign.id,
      customerId: customer.id,
    });
  }
  const voucher =
    source.kind === "voucher"
      ? await lockVoucher(tx, projectId, source.voucher.definition.code)
      : null;
  const decision = decidePublication({
    customerId: customer.id,
    joinOnce,
    earlier: joinOnce ? await findEarlier(tx, attempt, voucher) : null,
    count: source.kind === "campaign" ? source.count : 1,
    takenSourceId:
      sourceId !== null && (await isSourceTaken(tx, projectId, sourceId)) ? sourceId : null,
    voucher: voucher && voucher.definition,
  });
  if (decision.kind !== "publish") return decision;
  if (source.kind === "campaign") return claimVouchers(tx, deps, { ...source, call, waits });
  return { kind: "claimed", vouchers: voucher === null ? [] : [voucher], generated: new Set() };
}

/** The publication that a customer who may join only once already has (docs/publications.md#join-once). */
async function findEarlier(
  tx: Queryable,
  { input, customer, call }: Attempt,
  voucher: StoredVoucher | null,
): Promise<EarlierPublication | null> {
  const projectId = call.project.id;
  if (voucher !== null && voucher.definition.holderId === customer.id) {
    return findHolding(tx, projectId, voucher.definition.id);
  }
  const { campaign } = input.source;
  if (campaign === null) return null;
  return findHoldingInCampaign(tx, {
    projectId,
    campaignId: campaign.id,
    customerId: customer.id,
  });
}

async function write(
  tx: Queryable,
  deps: Deps,
  attempt: PublicationAttempt & { readonly claimed: Extract<ClaimResult, { kind: "claimed" }> },
): Promise<PublishOutcome> {
  const { input, customer, call, claimed } = attempt;
  const time = { now: call.now, timeZone: call.project.timeZone };
  const owner = { id: customer.id, metadata: input.metadata };
  const vouchers = claimed.vouchers.map(({ definition, usage }) => {
    const published = publishTo(definition, owner, time);
    return { definition: published, usage: { ...usage, definitionVersion: published.version } };
  });
  const publication = succeededPublication(deps.newId("pub"), attempt, vouchers);
  const voucherCode = vouchers[0]?.definition.code ?? null;
  const details = { voucherCode, requestId: call.requestId };
  if ((await insertPublication(tx, publication, details)) === "source_taken") {
    const repeated = decidePublication({
      customerId: customer.id,
      joinOnce: false,
      earlier: null,
      count: 1,
      takenSourceId: input.sourceId,
      voucher: null,
    });
    if (repeated.kind !== "rejected")
      throw new Error("a publication without a source id conflicts");
    throw new NotPublished(repeated);
  }
  await updatePublished(
    tx,
    vouchers.map(({ definition }) => definition),
  );
  const holders = vouchers.map((voucher) => holderOf(deps, voucher, publication));
  const inserted = await insertHolders(tx, holders);
  if (inserted.size < holders.length) throw new Error("a published voucher has a holder already");
  // States come first, so that a card is never known without its own.
  const states = vouchers
    .filter(({ definition }) => hasLimits(definition))
    .map(({ definition }) => loyaltyCardChanged(deps.newId("event"), definition, call.now));
  const publications = holders.map((holder, index) =>
    voucherPublished(deps.newId("event"), holder, {
      channel: publication.channel,
      generated: claimed.generated.has(holder.voucherId),
      loyaltyPoints: vouchers[index]?.definition.loyaltyPoints ?? null,
      campaignType: vouchers[index]?.definition.campaignType ?? null,
    }),
  );
  await enqueue(tx, [...states, ...publications], call);
  return { kind: "published", publication, vouchers };
}

function holderOf(
  deps: Deps,
  { definition }: StoredVoucher,
  publication: StoredPublication,
): PublishedHolder {
  return {
    projectId: publication.projectId,
    id: deps.newId("rh"),
    voucherId: definition.id,
    customerId: publication.customerId,
    role: definition.isReferralCode ? "REFERRER" : "OWNER",
    campaignId: definition.campaignId,
    campaignType: definition.campaignType,
    voucherType: definition.type,
    metadata: publication.metadata,
    publicationId: publication.id,
    createdAt: publication.createdAt,
  };
}
