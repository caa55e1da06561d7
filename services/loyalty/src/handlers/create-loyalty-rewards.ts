import { create } from "@bufbuild/protobuf";
import {
  CreateLoyaltyRewardsResponseSchema,
  type RewardAssignment,
  type RewardService,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { assignReward, rejectingDuplicates } from "../reward/assign-reward.ts";

export const createLoyaltyRewards =
  (deps: Deps): Handler<typeof RewardService.method.createLoyaltyRewards> =>
  async ({ campaignId, rewards: requests }, { project, now }) => {
    const assignAll = () =>
      deps.db.transaction(async (tx) => {
        const assigned: RewardAssignment[] = [];
        for (const { reward: rewardId, parameters } of requests) {
          const { row, reward } = await assignReward(tx, {
            id: deps.newId("rewa"),
            projectId: project.id,
            rewardId,
            campaignId,
            parameters,
            now,
          });
          assigned.push(rewardAssignmentToProto(row, reward));
        }
        return assigned;
      });
    const rewards = await rejectingDuplicates(deps.db, assignAll);
    return create(CreateLoyaltyRewardsResponseSchema, { rewards });
  };
