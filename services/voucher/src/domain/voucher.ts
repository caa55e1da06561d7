import type { DiscountDefinition, Validity } from "@scrip/rules";

export type VoucherType = "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";

/** The kinds of campaign that have vouchers. */
export type CampaignType =
  | "LOYALTY_PROGRAM"
  | "GIFT_VOUCHERS"
  | "DISCOUNT_COUPONS"
  | "REFERRAL_PROGRAM";

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/**
 * All of a voucher that redemptions do not change. A version of it never changes, so it may be
 * cached under project, id and version. Instants are epoch milliseconds; null means known to be
 * absent.
 */
export type VoucherDefinition = {
  readonly projectId: string;
  readonly id: string;
  readonly code: string;
  readonly type: VoucherType;
  readonly campaignId: string | null;
  readonly campaignName: string | null;
  readonly campaignType: CampaignType | null;
  readonly categoryId: string | null;
  readonly discount: DiscountDefinition | null;
  readonly giftEffect: GiftEffect | null;
  readonly loyaltyPoints: bigint | null;
  readonly validity: Validity;
  /** How long it can be used once it is published: an ISO 8601 duration. */
  readonly activityDuration: string | null;
  readonly active: boolean | null;
  readonly additionalInfo: string | null;
  readonly metadata: Metadata;
  readonly assetId: string;
  readonly isReferralCode: boolean;
  readonly holderId: string | null;
  readonly referrerId: string | null;
  readonly publishCount: bigint;
  /** Of the publication that gave it to its holder. */
  readonly publicationMetadata: Metadata | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly version: bigint;
};

/** What a client attaches: JSON that is kept as it came. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * What a code is found by. Where case does not count it is the lower-cased code behind a \u0001; no
 * code holds a control character, so a lookup by both forms needs not know the kind of project.
 */
export const codeKeyOf = (code: string, caseSensitive: boolean): string =>
  caseSensitive ? code : foldedKeyOf(code);

export const foldedKeyOf = (code: string): string => `\u0001${code.toLowerCase()}`;
