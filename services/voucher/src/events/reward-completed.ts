import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import { RewardCompletedSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";

import type { CompletedReward } from "../store/reward-redemptions.ts";
import { REDEMPTIONS_TOPIC } from "./redemption-made.ts";

/** The event of a reward that was given after its redemption. */
export const rewardCompleted = (
  id: string,
  { projectId, redemptionId, cardId, campaignId, customerId, rewardId, at }: CompletedReward,
): OutboxEvent => ({
  projectId,
  id,
  topic: REDEMPTIONS_TOPIC,
  type: RewardCompletedSchema.typeName,
  key: cardId,
  payload: toBinary(
    RewardCompletedSchema,
    create(RewardCompletedSchema, {
      projectId,
      redemptionId,
      voucherId: cardId,
      ...(campaignId !== null && { campaignId }),
      customerId,
      rewardId,
      date: instantToProto(at),
    }),
  ),
});
