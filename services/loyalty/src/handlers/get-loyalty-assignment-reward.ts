import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toReward } from "../mapping/reward.ts";
import { requireAssignment, rewardOf } from "../reward/reward-assignment.ts";

export const getLoyaltyAssignmentReward =
  (deps: Deps): Handler<typeof RewardService.method.getLoyaltyAssignmentReward> =>
  async ({ campaignId, assignmentId: id }, { project }) => {
    const row = await requireAssignment(deps, { projectId: project.id, id, campaignId });
    return toReward(await rewardOf(deps, project.id, row));
  };
