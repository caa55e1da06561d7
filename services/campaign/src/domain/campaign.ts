import type { DiscountDefinition, Validity } from "@scrip/rules";

import type { ReferralProgram } from "./referral-program.ts";

export type CampaignType =
  | "LOYALTY_PROGRAM"
  | "GIFT_VOUCHERS"
  | "DISCOUNT_COUPONS"
  | "PROMOTION"
  | "REFERRAL_PROGRAM";

/** Codes are created on demand, together with the campaign, or there is exactly one public code. */
export type CampaignKind = "AUTO_UPDATE" | "STATIC" | "STANDALONE";

export type CampaignStatus = "DONE" | "IN_PROGRESS" | "FAILED" | "DRAFT" | "MODIFYING";

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/** JSON from a client, stored unchanged. */
export type Json = Readonly<Record<string, unknown>>;

/** Defaults of the campaign's vouchers. Exactly one of discount, gift and loyalty card is set. */
export type VoucherTemplate = {
  readonly discount: DiscountDefinition | null;
  readonly gift: { readonly amount: bigint; readonly effect: GiftEffect } | null;
  readonly loyaltyCard: { readonly points: bigint; readonly expirationRules: Json | null } | null;
  /** Maximum number of redemptions per voucher; null without a limit. */
  readonly quantity: bigint | null;
  readonly codeConfig: CodeSettings;
  /** The one code of a STANDALONE campaign. */
  readonly code: string | null;
};

export type CodeSettings = {
  readonly length: number;
  readonly charset: string;
  readonly pattern: string;
  readonly prefix?: string;
  readonly postfix?: string;
};

/** Times are epoch milliseconds. */
export type Campaign = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly campaignType: CampaignType;
  readonly kind: CampaignKind;
  readonly autoJoin: boolean;
  readonly joinOnce: boolean;
  readonly useVoucherMetadataSchema: boolean;
  readonly active: boolean;
  readonly isProtected: boolean;
  readonly creationStatus: CampaignStatus;
  readonly generationStatus: CampaignStatus;
  readonly vouchersCount: bigint;
  readonly categoryId: string | null;
  readonly validity: Validity;
  /** How long a voucher can be redeemed after its publication: an ISO 8601 duration. */
  readonly activityDuration: string | null;
  readonly metadata: Json;
  /** Null for promotions, which have no vouchers. */
  readonly voucher: VoucherTemplate | null;
  /** Null unless it is a referral program. */
  readonly referralProgram: ReferralProgram | null;
  readonly loyaltyTiersExpiration: Json | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};

export type VoucherType = "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";

/** The type of the campaign's vouchers; null for promotions. */
export function voucherTypeOf(campaignType: CampaignType): VoucherType | null {
  switch (campaignType) {
    case "DISCOUNT_COUPONS":
    case "REFERRAL_PROGRAM":
      return "DISCOUNT_VOUCHER";
    case "GIFT_VOUCHERS":
      return "GIFT_VOUCHER";
    case "LOYALTY_PROGRAM":
      return "LOYALTY_CARD";
    case "PROMOTION":
      return null;
    default:
      return campaignType satisfies never;
  }
}

/** The fields of a request from which the type of a new campaign is inferred. */
export type CampaignTypeHints = {
  readonly promotion: boolean;
  readonly voucher: {
    readonly type: VoucherType | null;
    readonly gift: boolean;
    readonly loyaltyCard: boolean;
  };
};

/** The type of a new campaign that sends none. */
export function inferCampaignType({ promotion, voucher }: CampaignTypeHints): CampaignType {
  const { type, gift, loyaltyCard } = voucher;
  if (type === "GIFT_VOUCHER") return "GIFT_VOUCHERS";
  if (type === "LOYALTY_CARD") return "LOYALTY_PROGRAM";
  if (type === "DISCOUNT_VOUCHER") return "DISCOUNT_COUPONS";
  if (promotion) return "PROMOTION";
  if (gift) return "GIFT_VOUCHERS";
  return loyaltyCard ? "LOYALTY_PROGRAM" : "DISCOUNT_COUPONS";
}

/** Loyalty cards are always joined once; a STANDALONE campaign has a public code, which has no holder. */
export function effectiveJoinOnce(
  { campaignType, kind }: Pick<Campaign, "campaignType" | "kind">,
  requested: boolean,
): boolean {
  if (campaignType === "LOYALTY_PROGRAM") return true;
  return kind === "STANDALONE" ? false : requested;
}
