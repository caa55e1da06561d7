import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { findAssignments } from "../store/reward-assignments.ts";

export const resolveRewardAssignments =
  (deps: Deps): Handler<typeof RewardService.method.resolveRewardAssignments> =>
  async ({ queries }) => {
    const found = await findAssignments(deps.db, queries);
    return {
      $typeName: "scrip.loyalty.v1.ResolveRewardAssignmentsResponse",
      results: queries.map(({ projectId, assignmentId }) => {
        const row = found.get(keyOf(projectId, assignmentId));
        return {
          $typeName: "scrip.loyalty.v1.RewardAssignmentResult" as const,
          ...(row !== undefined && { assignment: rewardAssignmentToProto(row) }),
        };
      }),
    };
  };
