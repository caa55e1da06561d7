import { notFound } from "@scrip/errors";
import { parsePage } from "@scrip/postgres";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { listAssignments } from "../store/reward-assignments.ts";
import { findReward } from "../store/rewards.ts";

export const listRewardAssignments =
  (deps: Deps): Handler<typeof RewardService.method.listRewardAssignments> =>
  async (request, { project }) => {
    const { rewardId } = request;
    const projectId = project.id;
    if ((await findReward(deps.db, projectId, rewardId)) === undefined) {
      throw notFound("reward", rewardId);
    }
    const { rows, total } = await listAssignments(deps.db, {
      projectId,
      rewardId,
      createdAt: request.createdAt,
      ...parsePage(request),
    });
    const data = rows.map((row) => rewardAssignmentToProto(row));
    return { $typeName: "scrip.loyalty.v1.ListRewardAssignmentsResponse", data, total };
  };
