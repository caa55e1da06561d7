import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { changeRewardAssignment } from "../reward/reward-assignment.ts";

export const updateRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.updateRewardAssignment> =>
  async ({ rewardId, assignmentId: id, parameters }, { project, now }) => {
    const name = { projectId: project.id, id, rewardId };
    const { row } = await changeRewardAssignment(deps, name, { parameters, at: new Date(now) });
    return rewardAssignmentToProto(row);
  };
