import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { removeRewardAssignment } from "../reward/reward-assignment.ts";

export const deleteLoyaltyReward =
  (deps: Deps): Handler<typeof RewardService.method.deleteLoyaltyReward> =>
  async ({ campaignId, assignmentId: id }, { project }) => {
    await removeRewardAssignment(deps, { projectId: project.id, id, campaignId });
    return create(EmptySchema);
  };
