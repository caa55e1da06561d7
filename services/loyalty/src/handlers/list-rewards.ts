import { parsePage } from "@scrip/postgres";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardToProto } from "../mapping/reward.ts";
import { listRewards as list } from "../store/rewards.ts";

export const listRewards =
  (deps: Deps): Handler<typeof RewardService.method.listRewards> =>
  async (request, { project }) => {
    const { rows, total } = await list(deps.db, {
      projectId: project.id,
      assignmentId: request.assignmentId ?? null,
      createdAt: request.createdAt,
      ...parsePage(request),
    });
    const data = rows.map((row) => rewardToProto(row));
    return { $typeName: "scrip.loyalty.v1.ListRewardsResponse", data, total };
  };
