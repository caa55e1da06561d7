import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { assignReward, rejectingDuplicates } from "../reward/assign-reward.ts";

export const createRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.createRewardAssignment> =>
  async (request, call) => {
    const { rewardId, campaign: campaignId, parameters } = request;
    const { row } = await rejectingDuplicates(deps.db, () =>
      assignReward(deps.db, {
        id: reservedOrNewId(request, call, () => deps.newId("rewa")),
        projectId: call.project.id,
        rewardId,
        campaignId,
        parameters,
        now: call.now,
      }),
    );
    return rewardAssignmentToProto(row);
  };
