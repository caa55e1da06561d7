import type { Decimal } from "@scrip/money";
import type { Discount, Metadata, Validity, ValidationRule } from "@scrip/rules";

/**
 * What a decision is made of: plain data, gathered before. Amounts and points are minor units,
 * instants are epoch milliseconds, `null` means known to be absent.
 */

/** The order as it was sent, or as it is stored when the request names a stored one. */
export type OrderSnapshot = OrderContent & { readonly metadata: Metadata };

/** What an order is worth, and of what. */
export type OrderContent = {
  readonly amount: bigint | null;
  /** Of a stored order that earlier redemptions have changed; null means: as `amount`. */
  readonly initialAmount: bigint | null;
  /** Order-level discounts that a stored order already carries. */
  readonly discountAmount: bigint;
  readonly lines: readonly LineSnapshot[];
};

/** One element of `order.items`. Lines of the same product are never merged. */
export type LineSnapshot = {
  readonly productId: string | null;
  readonly skuId: string | null;
  readonly productSourceId: string | null;
  readonly skuSourceId: string | null;
  /** Those that hold the line, of the product collections that rules of the request name. */
  readonly collections: readonly string[];
  /** null means one. */
  readonly quantity: bigint | null;
  readonly amount: bigint | null;
  readonly prices: LinePrices;
  /** What a stored line already carries; null and zero for one that was sent inline. */
  readonly initialQuantity: bigint | null;
  readonly initialAmount: bigint | null;
  readonly discountAmount: bigint;
  readonly discountQuantity: bigint;
  readonly metadata: Metadata;
  readonly productMetadata: Metadata;
};

/** The places a unit price can come from; the first that exists wins. */
export type LinePrices = {
  readonly line: bigint | null;
  readonly inlineSku: bigint | null;
  readonly inlineProduct: bigint | null;
  readonly storedSku: bigint | null;
  readonly storedProduct: bigint | null;
};

/** The buyer: what is stored, with what the request tells laid over it. */
export type CustomerSnapshot = {
  /** null for one who is not stored. */
  readonly id: string | null;
  readonly sourceId: string | null;
  readonly metadata: Metadata;
  readonly birthdate: string | null;
  /** Ids of the segments and loyalty tiers that the customer is in. */
  readonly segments: readonly string[];
  readonly loyaltyTiers: readonly string[];
};

export type CategorySnapshot = { readonly id: string; readonly hierarchy: number };

export type CampaignSnapshot = {
  readonly id: string;
  readonly name: string;
  /** null counts as switched on, here and in a voucher. */
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
  /** How often it may be redeemed; null means without limit. */
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  /** Redemptions that live sessions of others hold. */
  readonly lockedQuantity: bigint;
  /** Grows with every change of the definition, never with a redemption. */
  readonly definitionVersion: bigint;
  readonly campaign: CampaignSnapshot | null;
  readonly categories: readonly CategorySnapshot[];
  readonly metadata: Metadata;
  readonly publishCount: bigint;
  /** Of the publication that gave it to its holder; null without one. */
  readonly publicationMetadata: Metadata | null;
  /** Its own; those of the campaign are the campaign's. */
  readonly rules: readonly ValidationRule[];
  /** A code of a referral programme, which its holder may not redeem. */
  readonly isReferralCode: boolean;
  /** The customer whom it was published to. */
  readonly holderId: string | null;
};

export type VoucherValue =
  | { readonly type: "DISCOUNT_VOUCHER"; readonly discount: Discount | null }
  | {
      readonly type: "GIFT_VOUCHER";
      readonly balance: bigint;
      /** Credits that live sessions of others hold. */
      readonly lockedCredits: bigint;
      /** null means on the order. */
      readonly effect: GiftEffect | null;
    }
  | {
      readonly type: "LOYALTY_CARD";
      readonly balance: bigint;
      /** Points that live sessions of others hold. */
      readonly lockedPoints: bigint;
    };

export type GiftEffect = "APPLY_TO_ORDER" | "APPLY_TO_ITEMS";

/** A promotion tier: a discount that needs no code. */
export type TierSnapshot = {
  readonly id: string;
  readonly name: string;
  readonly banner: string | null;
  /** null counts as switched on. */
  readonly active: boolean | null;
  readonly validity: Validity;
  readonly discount: Discount | null;
  readonly campaign: CampaignSnapshot | null;
  readonly categories: readonly CategorySnapshot[];
  readonly metadata: Metadata;
  readonly hierarchy: number;
  readonly rules: readonly ValidationRule[];
};

/** A redeemable of the request, together with what was found for it. */
export type VoucherRedeemable = {
  readonly object: "voucher";
  /** The code or id, as it was sent. */
  readonly id: string;
  readonly voucher: VoucherSnapshot | null;
  /** `gift.credits` of the request. */
  readonly credits: bigint | null;
  /** `reward` of the request. */
  readonly reward: RequestedReward | null;
};

/** What a loyalty card is to be redeemed for, together with what was found for it. */
export type RequestedReward = {
  readonly id: string;
  /** `reward.points` of the request. */
  readonly points: bigint | null;
  /** null when the card's campaign does not give it. */
  readonly assignment: RewardAssignment | null;
};

export type RewardAssignment = {
  readonly assignmentId: string;
  readonly name: string | null;
  readonly type: "CAMPAIGN" | "MATERIAL" | "COIN";
  /** In points; null of a COIN reward. */
  readonly price: bigint | null;
  /** So many points are worth so many major units. */
  readonly coin: { readonly exchangeRatio: Decimal; readonly pointsRatio: bigint } | null;
  /** null without a limit. */
  readonly stockLeft: bigint | null;
};

/** A stack is replaced by its tiers before it is decided on, so only an unknown one is left. */
export type TierRedeemable = {
  readonly object: "promotion_tier" | "promotion_stack";
  readonly id: string;
  readonly tier: TierSnapshot | null;
};

export type Redeemable = VoucherRedeemable | TierRedeemable;

/** What the catalogue knows of a product or SKU that a discount adds or a rule names. */
export type CatalogueItem = {
  readonly productId: string;
  readonly skuId: string | null;
  readonly productSourceId: string | null;
  readonly skuSourceId: string | null;
  readonly name: string | null;
  /** `sku.sku`. */
  readonly skuLabel: string | null;
  readonly price: bigint | null;
  readonly metadata: Metadata;
  readonly productMetadata: Metadata;
  readonly collections: readonly string[];
};

/** Who calls. */
export type CallerIdentity = {
  /** The id of the application. */
  readonly channelId: string;
  readonly userId: string | null;
};
