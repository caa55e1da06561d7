import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toAssignment } from "../mapping/reward.ts";
import { changeAssignment } from "../reward/reward-assignment.ts";

export const updateRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.updateRewardAssignment> =>
  async ({ rewardId, assignmentId: id, parameters }, { project, now }) => {
    const name = { projectId: project.id, id, rewardId };
    const { row } = await changeAssignment(deps, name, { parameters, at: new Date(now) });
    return toAssignment(row);
  };
