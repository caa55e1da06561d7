/** What converts the codes of a referral program (docs/referrals.md#conversion). */
export const CONVERSION_EVENT_TYPES = ["redemption", "order", "custom_event"] as const;
export type ConversionEventType = (typeof CONVERSION_EVENT_TYPES)[number];

export const REFERRAL_REWARD_TYPES = ["DISCOUNT_VOUCHER", "GIFT_VOUCHER", "LOYALTY_CARD"] as const;
export type ReferralRewardType = (typeof REFERRAL_REWARD_TYPES)[number];

/** Credits in minor units, or points, on the customer's voucher of a campaign, or a number of coupons of it. */
export type ReferralReward = {
  readonly campaign: { readonly id: string; readonly name: string };
  readonly type: ReferralRewardType;
  readonly amount: bigint;
  /** Tiers only: the reward that defines type and amount. */
  readonly rewardId?: string | undefined;
};

/** The settings of a referral program. */
export type ReferralProgram = {
  readonly conversionEventType: ConversionEventType;
  /** At least one of id and name; only for conversion by custom event. */
  readonly customEvent: { readonly id: string | null; readonly name: string | null } | null;
  readonly refereeReward: ReferralReward | null;
  readonly referrerReward: ReferralReward | null;
};

export const DEFAULT_REFERRAL_PROGRAM: ReferralProgram = {
  conversionEventType: "redemption",
  customEvent: null,
  refereeReward: null,
  referrerReward: null,
};

/** The type of the campaigns whose vouchers a reward credits or publishes. */
export const REWARD_CAMPAIGN_TYPES = {
  DISCOUNT_VOUCHER: "DISCOUNT_COUPONS",
  GIFT_VOUCHER: "GIFT_VOUCHERS",
  LOYALTY_CARD: "LOYALTY_PROGRAM",
} as const satisfies Record<ReferralRewardType, string>;

/** A publication has at most so many coupons. */
export const MAX_COUPONS = 50;

/** What a referrer gets for a number of referees. Times are epoch milliseconds. */
export type ReferralTier = {
  readonly id: string;
  readonly campaignId: string;
  readonly name: string;
  readonly conditionType: string;
  readonly count: bigint;
  readonly segmentId: string | null;
  readonly reward: ReferralReward;
  readonly active: boolean;
  readonly createdAt: number;
  readonly updatedAt: number | null;
};
