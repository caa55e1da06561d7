import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toAssignment } from "../mapping/reward.ts";
import { requireAssignment, rewardOf } from "../reward/reward-assignment.ts";

export const getLoyaltyReward =
  (deps: Deps): Handler<typeof RewardService.method.getLoyaltyReward> =>
  async ({ campaignId, assignmentId: id }, { project }) => {
    const row = await requireAssignment(deps, { projectId: project.id, id, campaignId });
    return toAssignment(row, await rewardOf(deps, project.id, row));
  };
