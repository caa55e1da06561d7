import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listAssignmentIds } from "../store/reward-assignments.ts";
import { deleteReward as remove } from "../store/rewards.ts";

export const deleteReward =
  (deps: Deps): Handler<typeof RewardService.method.deleteReward> =>
  async ({ rewardId }, { project }) => {
    try {
      const was = await remove(deps.db, project.id, rewardId);
      if (!was) throw notFound("reward", rewardId);
    } catch (error) {
      if (!isForeignKeyViolation(error, "reward_assignment_of_reward")) throw error;
      const { ids, total } = await listAssignmentIds(deps.db, project.id, rewardId);
      throw inUse("reward", rewardId, { type: "reward_assignment", ids, total });
    }
    return create(EmptySchema);
  };
