import type { DiscountDefinition, Validity } from "@scrip/rules";

export type VoucherType = "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";

/** The types of campaigns that have vouchers. */
export type CampaignType =
  | "LOYALTY_PROGRAM"
  | "GIFT_VOUCHERS"
  | "DISCOUNT_COUPONS"
  | "REFERRAL_PROGRAM";

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/**
 * The properties of a voucher that redemptions do not change. A version never changes, so it may be cached by
 * project, id and version. Instants are epoch milliseconds; null means absent.
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
  /** How long it is valid after its publication: an ISO 8601 duration. */
  readonly activityDuration: string | null;
  readonly active: boolean | null;
  readonly additionalInfo: string | null;
  readonly metadata: Metadata;
  readonly assetId: string;
  readonly isReferralCode: boolean;
  readonly holderId: string | null;
  readonly referrerId: string | null;
  readonly publishCount: bigint;
  /** Metadata of the publication that assigned it to its holder. */
  readonly publicationMetadata: Metadata | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly version: bigint;
};

/** JSON that the client attaches, stored unchanged. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * The key that a code is looked up by. In projects with case-insensitive codes it is \u0001 and the lower-cased
 * code; codes have no control characters, so a lookup by both forms works for either kind of project.
 */
export const codeKeyOf = (code: string, caseSensitive: boolean): string =>
  caseSensitive ? exactKeyOf(code) : foldedKeyOf(code);

/** The keys of a code in both kinds of projects. */
export const codeKeysOf = (code: string): readonly string[] => [
  exactKeyOf(code),
  foldedKeyOf(code),
];

export const FOLDED = "\u0001";

/** A text that is a folded key itself is no code: it must not find the voucher with that key. */
export const exactKeyOf = (code: string): string =>
  code.startsWith(FOLDED) ? foldedKeyOf(code) : code;

export const foldedKeyOf = (code: string): string => FOLDED + code.toLowerCase();

const TYPE_ALIASES: Readonly<Record<string, VoucherType>> = {
  DISCOUNT: "DISCOUNT_VOUCHER",
  GIFT: "GIFT_VOUCHER",
  LOYALTY: "LOYALTY_CARD",
};

/** The stored name of a voucher type in a filter, which may be short and in any letter case. */
export function voucherTypeOf(name: string): string {
  const upper = name.toUpperCase();
  return Object.hasOwn(TYPE_ALIASES, upper) ? (TYPE_ALIASES[upper] ?? upper) : upper;
}

export const VOUCHER_TYPES: readonly string[] = Object.values(TYPE_ALIASES);
