import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { RewardParametersSchema } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import type { PointsReward, RedeemedPoints } from "../domain/points.ts";

/** The JSON of the column `points`: bigints as text. */
export type PointsJson = {
  readonly spend_id: string;
  readonly points: string;
  readonly card_points: string;
  readonly balance: string;
  readonly redeemed_points: string;
  readonly reward: RewardJson | null;
};

/** Optional fields are absent in redemptions from before they were stored. */
type RewardJson = Pick<PointsReward, "id" | "name" | "type" | "assignmentId"> & {
  readonly quantity?: string;
  readonly parameters?: JsonValue;
  readonly tierId?: string | null;
};

export function pointsToJson(redeemed: RedeemedPoints | null): string | null {
  if (redeemed === null) return null;
  const { reward } = redeemed;
  const json: PointsJson = {
    spend_id: redeemed.holdId,
    points: `${redeemed.points}`,
    card_points: `${redeemed.cardPoints}`,
    balance: `${redeemed.balance}`,
    redeemed_points: `${redeemed.redeemedPoints}`,
    reward: reward && rewardToJson(reward),
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
    reward: json.reward && rewardFromJson(json.reward),
  };

const rewardToJson = ({ quantity, parameters, ...reward }: PointsReward): RewardJson => ({
  ...reward,
  quantity: `${quantity}`,
  ...(parameters !== null && {
    parameters: toJson(RewardParametersSchema, create(RewardParametersSchema, parameters)),
  }),
});

const rewardFromJson = ({
  quantity = "1",
  parameters,
  tierId = null,
  ...reward
}: RewardJson): PointsReward => ({
  ...reward,
  quantity: BigInt(quantity),
  parameters: parameters === undefined ? null : fromJson(RewardParametersSchema, parameters),
  tierId,
});
