import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { requireRewardAssignment } from "../reward/reward-assignment.ts";

export const getRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.getRewardAssignment> =>
  async ({ rewardId, assignmentId: id }, { project }) =>
    rewardAssignmentToProto(
      await requireRewardAssignment(deps, { projectId: project.id, id, rewardId }),
    );
