import { addDuration, parseDuration } from "@scrip/rules";

import type { CampaignType, Metadata, VoucherDefinition, VoucherType } from "./voucher.ts";

/** What a campaign has told about itself. */
export type CampaignTerms = {
  readonly id: string;
  readonly name: string;
  readonly type: CampaignType;
  readonly joinOnce: boolean;
};

/** What a customer got before. */
export type Held = { readonly voucherId: string; readonly publicationId: string };

export type PublicationFacts = {
  readonly customerId: string;
  readonly joinOnce: boolean;
  /** What the customer has of the campaign, or of the voucher that is asked for; oldest first. */
  readonly held: Held | null;
  /** As it was sent, when a publication has it already. */
  readonly takenSourceId: string | null;
  /** The voucher that is asked for; null when any of the campaign will do. */
  readonly voucher: {
    readonly id: string;
    readonly holderId: string | null;
    readonly publishCount: bigint;
  } | null;
};

export type RefusedPublication = {
  readonly kind: "refused";
  readonly key:
    | "voucher_already_published"
    | "voucher_cannot_be_published"
    | "no_voucher_suitable_for_publication"
    | "duplicate_source_id";
  readonly details: string;
};

export type PublicationDecision =
  | { readonly kind: "publish" }
  | { readonly kind: "joined_before"; readonly publicationId: string }
  | RefusedPublication;

/**
 * Whether a voucher may go to a customer (spec/campaigns-loyalty-platform.md §7). Somebody who joined
 * before gets what is there: nothing is made, so that a source id is of no matter then.
 */
export function decidePublication(facts: PublicationFacts): PublicationDecision {
  const { customerId, joinOnce, held, takenSourceId, voucher } = facts;
  if (joinOnce && held !== null && (voucher === null || voucher.id === held.voucherId)) {
    return { kind: "joined_before", publicationId: held.publicationId };
  }
  if (takenSourceId !== null) {
    return refused(
      "duplicate_source_id",
      `A publication with source id '${takenSourceId}' exists already`,
    );
  }
  if (voucher !== null && voucher.holderId !== null && voucher.holderId !== customerId) {
    return alreadyPublished(voucher.id);
  }
  if (joinOnce && held !== null) {
    return refused(
      "voucher_cannot_be_published",
      "Voucher cannot be published. Customer already joined program.",
    );
  }
  // Also when its holder is gone: a code belongs to one customer in its life.
  if (voucher !== null && voucher.publishCount > 0n) return alreadyPublished(voucher.id);
  return { kind: "publish" };
}

export const noneSuitable = (details: string): RefusedPublication =>
  refused("no_voucher_suitable_for_publication", details);

const alreadyPublished = (voucherId: string): RefusedPublication =>
  refused("voucher_already_published", `Voucher '${voucherId}' has already been published`);

const refused = (key: RefusedPublication["key"], details: string): RefusedPublication => ({
  kind: "refused",
  key,
  details,
});

/** Loyalty programmes are joined once, whatever is sent. */
export function joinsOnce(sent: boolean | undefined, campaign: CampaignTerms | null): boolean {
  if (campaign?.type === "LOYALTY_PROGRAM") return true;
  return sent ?? campaign?.joinOnce ?? false;
}

export type PublicationMoment = {
  readonly now: number;
  readonly timeZone: string;
};

/** The voucher once it is the customer's. A period that begins with that replaces its dates. */
export function publishedTo(
  definition: VoucherDefinition,
  customer: { readonly id: string; readonly metadata: Metadata },
  { now, timeZone }: PublicationMoment,
): VoucherDefinition {
  const { activityDuration, validity } = definition;
  const period = activityDuration === null ? undefined : parseDuration(activityDuration);
  return {
    ...definition,
    holderId: customer.id,
    referrerId: definition.isReferralCode ? customer.id : definition.referrerId,
    publishCount: definition.publishCount + 1n,
    publicationMetadata: customer.metadata,
    validity:
      period === undefined
        ? validity
        : { ...validity, startDate: now, expirationDate: addDuration(timeZone, now, period, 1) },
    updatedAt: now,
    version: definition.version + 1n,
  };
}

/** Whether any publication may take it, beside those that name it. */
export const isSuitable = (definition: VoucherDefinition, now: number): boolean =>
  definition.active !== false &&
  definition.publishCount === 0n &&
  definition.holderId === null &&
  (definition.validity.expirationDate === null || definition.validity.expirationDate > now);

/** What campaigns of a kind hold; promotions, which hold nothing, are not published from. */
export function typeOfVouchers(campaign: CampaignTerms): VoucherType {
  switch (campaign.type) {
    case "GIFT_VOUCHERS":
      return "GIFT_VOUCHER";
    case "LOYALTY_PROGRAM":
      return "LOYALTY_CARD";
    case "DISCOUNT_COUPONS":
    case "REFERRAL_PROGRAM":
      return "DISCOUNT_VOUCHER";
    default:
      return campaign.type satisfies never;
  }
}
