/** The points that a loyalty card paid for a redemption, and its balances right after. */
export type RedeemedPoints = {
  /** The hold of the points in the loyalty service; each hold serves one redemption. */
  readonly holdId: string;
  readonly points: bigint;
  readonly cardPoints: bigint;
  readonly balance: bigint;
  readonly redeemedPoints: bigint;
  readonly reward: PointsReward | null;
};

/** What a reward gives, by its type. */
export type RewardParameters = {
  readonly campaign?:
    | {
        readonly id: string;
        readonly type?: string | undefined;
        /** Points or credits. */
        readonly balance?: bigint | undefined;
      }
    | undefined;
  readonly product?: { readonly id: string; readonly skuId?: string | undefined } | undefined;
  readonly coin?:
    | { readonly exchangeRatio: string; readonly pointsRatio?: bigint | undefined }
    | undefined;
};

/** The reward that the points paid for. */
export type PointsReward = {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
  readonly assignmentId: string;
  /** Number of rewards. */
  readonly quantity: bigint;
  /** What the reward gave at the redemption; null for redemptions from before it was stored. */
  readonly parameters: RewardParameters | null;
  /** The tier that decided on the price. */
  readonly tierId: string | null;
};
