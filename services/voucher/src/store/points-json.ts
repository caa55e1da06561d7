import type { PointsReward, RedeemedPoints } from "../domain/points.ts";

/** As it lies in the books: bigints as text. */
export type PointsJson = {
  readonly spend_id: string;
  readonly points: string;
  readonly card_points: string;
  readonly balance: string;
  readonly redeemed_points: string;
  readonly reward: PointsReward | null;
};

export function pointsToJson(taken: RedeemedPoints | null): string | null {
  if (taken === null) return null;
  const json: PointsJson = {
    spend_id: taken.holdId,
    points: `${taken.points}`,
    card_points: `${taken.cardPoints}`,
    balance: `${taken.balance}`,
    redeemed_points: `${taken.redeemedPoints}`,
    reward: taken.reward,
  };
  return JSON.stringify(json);
}

export const pointsFromJson = (json: PointsJson | null): RedeemedPoints | null =>
  json && {
    holdId: json.spend_id,
    points: BigInt(json.points),
    cardPoints: BigInt(json.card_points),
    balance: BigInt(json.balance),
    redeemedPoints: BigInt(json.redeemed_points),
    reward: json.reward,
  };
