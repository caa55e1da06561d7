import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { AutoRedemptionHeldSchema } from "@scrip/proto/scrip/events/v1/points_pb";

import { availablePoints, type Card, type PointsHold } from "../domain/card.ts";
import { rewardToProto } from "../mapping/reward.ts";
import type { PricedReward } from "../reward/tier-price.ts";
import { POINTS_TOPIC } from "./topics.ts";

export type AutoRedemption = PricedReward & {
  readonly hold: PointsHold;
  /** The card with the hold. */
  readonly card: Card;
  readonly customerId: string;
  readonly tierId: string | null;
};

export const autoRedemptionHeldEvent = (
  id: string,
  { hold, card, customerId, assignment, reward, tierId }: AutoRedemption,
): OutboxEvent => ({
  projectId: hold.projectId,
  id,
  topic: POINTS_TOPIC,
  type: AutoRedemptionHeldSchema.typeName,
  key: hold.cardId,
  payload: toBinary(
    AutoRedemptionHeldSchema,
    create(AutoRedemptionHeldSchema, {
      projectId: hold.projectId,
      cardId: hold.cardId,
      customerId,
      holdId: hold.id,
      points: hold.points,
      cardPoints: card.points,
      balance: availablePoints(card),
      redeemedPoints: card.redeemedPoints + card.heldPoints,
      date: timestampFromMs(hold.at),
      reward: rewardToProto(reward),
      quantity: hold.quantity,
      assignmentId: assignment.id,
      ...(tierId !== null && { loyaltyTierId: tierId }),
    }),
  ),
});
