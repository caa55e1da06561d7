import type { DiscountDefinition, Validity } from "@scrip/rules";

export type CampaignType =
  | "LOYALTY_PROGRAM"
  | "GIFT_VOUCHERS"
  | "DISCOUNT_COUPONS"
  | "PROMOTION"
  | "REFERRAL_PROGRAM";

/** Whether codes are made as they are needed, all at once, or there is just one. */
export type CampaignKind = "AUTO_UPDATE" | "STATIC" | "STANDALONE";

export type CampaignStatus = "DONE" | "IN_PROGRESS" | "FAILED" | "DRAFT" | "MODIFYING";

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/** What a client attaches: JSON that is kept as it came. */
export type Json = Readonly<Record<string, unknown>>;

/** What the vouchers of a campaign are made of: one of discount, gift and card. */
export type VoucherTemplate = {
  readonly discount: DiscountDefinition | null;
  readonly gift: { readonly amount: bigint; readonly effect: GiftEffect } | null;
  readonly loyaltyCard: { readonly points: bigint; readonly expirationRules: Json | null } | null;
  /** How often a voucher can be redeemed; null without a limit. */
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

/** Instants are epoch milliseconds; null means known to be absent. */
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
  /** How long a voucher can be used once it is published: an ISO 8601 duration. */
  readonly activityDuration: string | null;
  readonly metadata: Json;
  /** Null for promotions, which have no vouchers. */
  readonly voucher: VoucherTemplate | null;
  readonly referralProgram: Json | null;
  readonly loyaltyTiersExpiration: Json | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};

export type VoucherType = "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";

/** The type of voucher that a campaign holds; null for promotions. */
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
