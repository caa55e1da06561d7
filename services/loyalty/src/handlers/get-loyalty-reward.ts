import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { requireRewardAssignment, requireRewardOfAssignment } from "../reward/reward-assignment.ts";

export const getLoyaltyReward =
  (deps: Deps): Handler<typeof RewardService.method.getLoyaltyReward> =>
  async ({ campaignId, assignmentId: id }, { project }) => {
    const row = await requireRewardAssignment(deps, { projectId: project.id, id, campaignId });
    return rewardAssignmentToProto(row, await requireRewardOfAssignment(deps, project.id, row));
  };
