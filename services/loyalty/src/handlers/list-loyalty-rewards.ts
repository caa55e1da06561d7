import { parsePage } from "@scrip/postgres";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { listAssignments } from "../store/reward-assignments.ts";
import { findRewards } from "../store/rewards.ts";

export const listLoyaltyRewards =
  (deps: Deps): Handler<typeof RewardService.method.listLoyaltyRewards> =>
  async (request, { project }) => {
    const projectId = project.id;
    const { rows, total } = await listAssignments(deps.db, {
      projectId,
      campaignId: request.campaignId,
      assignmentId: request.assignmentId,
      createdAt: request.createdAt,
      ...parsePage(request),
    });
    const rewards = await findRewards(
      deps.db,
      rows.map(({ reward_id: rewardId }) => ({ projectId, rewardId })),
    );
    return {
      $typeName: "scrip.loyalty.v1.ListLoyaltyRewardsResponse",
      data: rows.map((row) =>
        rewardAssignmentToProto(row, rewards.get(keyOf(projectId, row.reward_id))),
      ),
      total,
    };
  };
