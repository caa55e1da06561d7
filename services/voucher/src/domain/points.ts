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

/** The reward that the points paid for. */
export type PointsReward = {
  readonly id: string;
  readonly name: string | null;
  readonly type: string;
  readonly assignmentId: string;
};
