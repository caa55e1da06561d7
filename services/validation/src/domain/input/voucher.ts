import type { Discount, Metadata, Validity, ValidationRule } from "@scrip/rules";

/**
 * Vouchers, campaigns and promotion tiers as loaded for a decision. Amounts, credits and points are
 * minor units, instants are epoch milliseconds, null means that the value is absent.
 */

export type CategorySnapshot = { readonly id: string; readonly hierarchy: number };

export type CampaignSnapshot = {
  readonly id: string;
  readonly name: string;
  /** null means active, here and in a voucher. */
  readonly active: boolean | null;
  readonly validity: Validity;
  readonly categories: readonly CategorySnapshot[];
  readonly metadata: Metadata;
  readonly rules: readonly ValidationRule[];
};

export type VoucherSnapshot = {
  readonly id: string;
  readonly code: string;
  readonly active: boolean | null;
  readonly validity: Validity;
  readonly value: VoucherValue;
  /** Maximum number of redemptions; null: no limit. */
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  /** Redemptions that other live sessions have locked. */
  readonly lockedQuantity: bigint;
  /** Grows with every change of the definition, never with a redemption. */
  readonly definitionVersion: bigint;
  readonly campaign: CampaignSnapshot | null;
  readonly categories: readonly CategorySnapshot[];
  readonly metadata: Metadata;
  readonly publishCount: bigint;
  /** Metadata of the publication that assigned it to its holder; null without one. */
  readonly publicationMetadata: Metadata | null;
  /** Rules assigned to the voucher itself, without those of its campaign. */
  readonly rules: readonly ValidationRule[];
  /** A code of a referral program, which its holder may not redeem. */
  readonly isReferralCode: boolean;
  /** The customer to whom it was published. */
  readonly holderId: string | null;
};

export type VoucherValue =
  | { readonly type: "DISCOUNT_VOUCHER"; readonly discount: Discount | null }
  | {
      readonly type: "GIFT_VOUCHER";
      readonly balance: bigint;
      /** Credits that other live sessions have locked. */
      readonly lockedCredits: bigint;
      /** null means `APPLY_TO_ORDER`. */
      readonly effect: GiftEffect | null;
    }
  | {
      readonly type: "LOYALTY_CARD";
      readonly balance: bigint;
      /** Points that other live sessions have locked. */
      readonly lockedPoints: bigint;
    };

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/** A promotion tier: a discount that needs no code. */
export type TierSnapshot = {
  readonly id: string;
  readonly name: string;
  readonly banner: string | null;
  /** null means active. */
  readonly active: boolean | null;
  readonly validity: Validity;
  readonly discount: Discount | null;
  readonly campaign: CampaignSnapshot | null;
  readonly categories: readonly CategorySnapshot[];
  readonly metadata: Metadata;
  readonly hierarchy: number;
  readonly rules: readonly ValidationRule[];
};
