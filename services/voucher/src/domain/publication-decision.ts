import { addDuration, parseDuration } from "@scrip/rules";

import { type EarlierPublication, repeatsJoining } from "./join-once.ts";
import type { CampaignType, Metadata, VoucherDefinition, VoucherType } from "./voucher.ts";

/** What publications need to know about a campaign. */
export type CampaignTerms = {
  readonly id: string;
  readonly name: string;
  readonly type: CampaignType;
  readonly joinOnce: boolean;
};

export type PublicationState = {
  readonly customerId: string;
  readonly joinOnce: boolean;
  /** The customer's oldest voucher of the campaign, or the requested voucher when they hold it. */
  readonly earlier: EarlierPublication | null;
  /** How many vouchers are requested. */
  readonly count: number;
  /** The requested source id, when a publication already has it. */
  readonly takenSourceId: string | null;
  /** The requested voucher; null when any voucher of the campaign may be published. */
  readonly voucher: {
    readonly id: string;
    readonly holderId: string | null;
    readonly publishCount: bigint;
  } | null;
};

export type RejectedPublication = {
  readonly kind: "rejected";
  readonly key:
    | "voucher_already_published"
    | "voucher_cannot_be_published"
    | "no_voucher_suitable_for_publication"
    | "too_many_vouchers_requested"
    | "duplicate_source_id";
  readonly details: string;
};

export type PublicationDecision =
  | { readonly kind: "publish" }
  | ({ readonly kind: "already_joined" } & EarlierPublication)
  | RejectedPublication;

/**
 * Decides whether a voucher may be published to a customer (docs/publications.md#publish). A customer who already
 * joined gets the existing publication (docs/publications.md#join-once); the source id is ignored then.
 */
export function decidePublication(state: PublicationState): PublicationDecision {
  const { customerId, joinOnce, earlier, count, takenSourceId, voucher } = state;
  if (joinOnce && earlier !== null && repeatsJoining(earlier, voucher)) {
    return { kind: "already_joined", ...earlier };
  }
  if (takenSourceId !== null) {
    return rejected(
      "duplicate_source_id",
      `A publication with source id '${takenSourceId}' exists already`,
    );
  }
  if (voucher !== null && voucher.holderId !== null && voucher.holderId !== customerId) {
    return alreadyPublished(voucher.id);
  }
  if (joinOnce && earlier !== null) {
    return rejected(
      "voucher_cannot_be_published",
      "Voucher cannot be published. Customer already joined program.",
    );
  }
  if (joinOnce && count > 1) {
    return rejected("too_many_vouchers_requested", "Only up to 1 can be published");
  }
  // Also when its holder was deleted: a code belongs to one customer only.
  if (voucher !== null && voucher.publishCount > 0n) return alreadyPublished(voucher.id);
  return { kind: "publish" };
}

export const noSuitableVoucher = (details: string): RejectedPublication =>
  rejected("no_voucher_suitable_for_publication", details);

const alreadyPublished = (voucherId: string): RejectedPublication =>
  rejected("voucher_already_published", `Voucher '${voucherId}' has already been published`);

const rejected = (key: RejectedPublication["key"], details: string): RejectedPublication => ({
  kind: "rejected",
  key,
  details,
});

export type PublicationTime = {
  readonly now: number;
  readonly timeZone: string;
};

/** The voucher after its publication. An activity duration replaces its dates. */
export function publishTo(
  definition: VoucherDefinition,
  customer: { readonly id: string; readonly metadata: Metadata },
  { now, timeZone }: PublicationTime,
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

/** Whether a publication may create a voucher with these dates: an activity duration replaces an end that has passed. */
export const isPublishableOnceCreated = (
  { activityDuration, validity }: Pick<VoucherDefinition, "activityDuration" | "validity">,
  now: number,
): boolean => activityDuration !== null || !hasEnded(validity, now);

/** Whether a publication of its campaign may select it. */
export const isPublishable = (definition: VoucherDefinition, now: number): boolean =>
  definition.active !== false &&
  definition.publishCount === 0n &&
  definition.holderId === null &&
  !hasEnded(definition.validity, now);

const hasEnded = ({ expirationDate }: VoucherDefinition["validity"], now: number): boolean =>
  expirationDate !== null && expirationDate <= now;

/** The type of the vouchers of a campaign. Promotions have none. */
export function voucherTypeOf(campaign: CampaignTerms): VoucherType {
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
