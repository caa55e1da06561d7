import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { removeRewardAssignment } from "../reward/reward-assignment.ts";

export const deleteRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.deleteRewardAssignment> =>
  async ({ rewardId, assignmentId: id }, { project }) => {
    await removeRewardAssignment(deps, { projectId: project.id, id, rewardId });
    return create(EmptySchema);
  };
