import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type RewardAssignment,
  RewardAssignmentSchema,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import type { AssignmentRow } from "../store/reward-assignments.ts";
import type { RewardRow } from "../store/rewards.ts";
import { rewardToProto } from "./reward.ts";

export function rewardAssignmentToProto(row: AssignmentRow, reward?: RewardRow): RewardAssignment {
  const loyalty = {
    ...(row.points !== null && { points: row.points }),
    ...(row.auto_redeem !== null && { autoRedeem: row.auto_redeem }),
  };
  return create(RewardAssignmentSchema, {
    id: row.id,
    rewardId: row.reward_id,
    relatedObjectId: row.campaign_id,
    relatedObjectType: "campaign",
    parameters: Object.keys(loyalty).length === 0 ? {} : { loyalty },
    createdAt: timestampFromDate(row.created_at),
    ...(row.updated_at !== null && { updatedAt: timestampFromDate(row.updated_at) }),
    ...(reward !== undefined && { reward: rewardToProto(reward) }),
  });
}
