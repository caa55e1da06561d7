/** What converts the codes of a referral program. */
export type ConversionEvent = "redemption" | "order" | "custom_event";

/** Credits or points on the customer's voucher of a campaign, or a number of its coupons. */
export type RewardTerms = {
  readonly campaignId: string;
  readonly voucherType: "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";
  readonly amount: bigint;
};

export type TierTerms = {
  readonly id: string;
  readonly condition: "EACH_UNIQUE_REFEREE" | "MINIMUM_UNIQUE_REFEREES";
  readonly count: bigint;
  readonly segmentId: string | null;
  readonly reward: RewardTerms;
};

/** A referral program as conversions need it. */
export type ReferralProgram = {
  readonly active: boolean;
  readonly conversionEvent: ConversionEvent;
  readonly event: { readonly name: string | null; readonly schemaId: string | null };
  readonly refereeReward: RewardTerms | null;
  readonly referrerReward: RewardTerms | null;
  /** Enabled tiers. */
  readonly tiers: readonly TierTerms[];
};

/** What caused a conversion. */
export type ConversionCause =
  | { readonly type: "redemption"; readonly id: string }
  | { readonly type: "order"; readonly id: string }
  | {
      readonly type: "event";
      readonly id: string;
      readonly name: string;
      readonly schemaId: string | null;
    };

/** Whether the cause converts codes of the program (docs/referrals.md#conversion). */
export function isConversion(program: ReferralProgram, cause: ConversionCause): boolean {
  switch (cause.type) {
    // A redemption was possible because the campaign was active then.
    case "redemption":
      return program.conversionEvent === "redemption";
    case "order":
      return program.active && program.conversionEvent === "order";
    case "event":
      return (
        program.active &&
        program.conversionEvent === "custom_event" &&
        isEvent(program.event, cause)
      );
    default:
      return cause satisfies never;
  }
}

const isEvent = (
  expected: ReferralProgram["event"],
  { name, schemaId }: { readonly name: string; readonly schemaId: string | null },
): boolean =>
  expected.schemaId !== null && schemaId !== null
    ? expected.schemaId === schemaId
    : expected.name === name;

export type Conversion = {
  readonly voucherId: string;
  readonly campaignId: string;
  readonly referrerId: string;
  readonly refereeId: string;
};

/** How a conversion counts for its referrer, in this program. */
export type RefereeCount = {
  /** Whether the referee converted no other code of the referrer before. */
  readonly isNew: boolean;
  /** Number of different referees, including this one. */
  readonly referees: bigint;
};

export type PlannedReward = RewardTerms & {
  /** What the reward is paid for: a repeated conversion plans the same keys. */
  readonly key: string;
  readonly customerId: string;
  readonly tierId: string | null;
  readonly segmentId: string | null;
};

/** The rewards of a conversion (docs/referrals.md#rewards). */
export function rewardsOf(
  { refereeReward, referrerReward, tiers }: ReferralProgram,
  { voucherId, campaignId, referrerId, refereeId }: Conversion,
  { isNew, referees }: RefereeCount,
): readonly PlannedReward[] {
  const rewards: PlannedReward[] = [];
  const noTier = { tierId: null, segmentId: null };
  if (refereeReward !== null) {
    const key = `referee:${voucherId}:${refereeId}`;
    rewards.push({ ...refereeReward, ...noTier, key, customerId: refereeId });
  }
  if (!isNew) return rewards;
  if (referrerReward !== null) {
    const key = `referrer:${campaignId}:${referrerId}:${refereeId}`;
    rewards.push({ ...referrerReward, ...noTier, key, customerId: referrerId });
  }
  for (const { id, condition, count, segmentId, reward } of tiers) {
    const isEach = condition === "EACH_UNIQUE_REFEREE";
    if (isEach ? referees % count !== 0n : referees < count) continue;
    const key = `tier:${id}:${referrerId}${isEach ? `:${refereeId}` : ""}`;
    rewards.push({ ...reward, key, customerId: referrerId, tierId: id, segmentId });
  }
  return rewards;
}
