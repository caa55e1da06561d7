/** What a loyalty card gave for a redemption, and how it stood right after. */
export type RedeemedPoints = {
  /** What held the points in the loyalty service: it serves one redemption. */
  readonly spendId: string;
  readonly points: bigint;
  readonly cardPoints: bigint;
  readonly balance: bigint;
  readonly redeemedPoints: bigint;
  readonly reward: PointsReward | null;
};

/** What the points were given for. */
export type PointsReward = {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
  readonly assignmentId: string;
};
