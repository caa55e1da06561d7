import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardToProto } from "../mapping/reward.ts";
import { requireRewardAssignment, requireRewardOfAssignment } from "../reward/reward-assignment.ts";

export const getLoyaltyAssignmentReward =
  (deps: Deps): Handler<typeof RewardService.method.getLoyaltyAssignmentReward> =>
  async ({ campaignId, assignmentId: id }, { project }) => {
    const row = await requireRewardAssignment(deps, { projectId: project.id, id, campaignId });
    return rewardToProto(await requireRewardOfAssignment(deps, project.id, row));
  };
