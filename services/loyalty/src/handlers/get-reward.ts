import { notFound } from "@scrip/errors";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardToProto } from "../mapping/reward.ts";
import { findReward } from "../store/rewards.ts";

export const getReward =
  (deps: Deps): Handler<typeof RewardService.method.getReward> =>
  async ({ rewardId }, { project }) => {
    const reward = await findReward(deps.db, project.id, rewardId);
    if (reward === undefined) throw notFound("reward", rewardId);
    return rewardToProto(reward);
  };
