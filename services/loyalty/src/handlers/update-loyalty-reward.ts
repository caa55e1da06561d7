import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { changeRewardAssignment } from "../reward/reward-assignment.ts";

export const updateLoyaltyReward =
  (deps: Deps): Handler<typeof RewardService.method.updateLoyaltyReward> =>
  async ({ campaignId, assignmentId: id, parameters }, { project, now }) => {
    const name = { projectId: project.id, id, campaignId };
    const { row, reward } = await changeRewardAssignment(deps, name, {
      parameters,
      at: new Date(now),
    });
    return rewardAssignmentToProto(row, reward);
  };
