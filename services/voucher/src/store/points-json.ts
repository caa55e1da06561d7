import type { PointsReward, RedeemedPoints } from "../domain/points.ts";

/** The JSON of the column `points`: bigints as text. */
export type PointsJson = {
  readonly spend_id: string;
  readonly points: string;
  readonly card_points: string;
  readonly balance: string;
  readonly redeemed_points: string;
  readonly reward: PointsReward | null;
};

export function pointsToJson(redeemed: RedeemedPoints | null): string | null {
  if (redeemed === null) return null;
  const json: PointsJson = {
    spend_id: redeemed.holdId,
    points: `${redeemed.points}`,
    card_points: `${redeemed.cardPoints}`,
    balance: `${redeemed.balance}`,
    redeemed_points: `${redeemed.redeemedPoints}`,
    reward: redeemed.reward,
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
