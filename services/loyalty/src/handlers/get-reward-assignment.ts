import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { requireAssignment } from "./change-assignment.ts";
import { toAssignment } from "./reward-message.ts";

export const getRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.getRewardAssignment> =>
  async ({ rewardId, assignmentId: id }, { project }) =>
    toAssignment(await requireAssignment(deps, { projectId: project.id, id, rewardId }));
