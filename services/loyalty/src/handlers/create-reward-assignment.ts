import { duplicate, notFound } from "@scrip/errors";
import { isForeignKeyViolation, isUniqueViolation } from "@scrip/postgres";
import type { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { parseAssignmentPrice, secondAutoRedeemError } from "../reward/assignment-price.ts";
import {
  type AssignmentRow,
  findAssignmentsOfCampaigns,
  insertAssignment,
  ONE_PER_CAMPAIGN,
  ONE_AUTO_REDEEM,
} from "../store/reward-assignments.ts";
import { findReward } from "../store/rewards.ts";

export const createRewardAssignment =
  (deps: Deps): Handler<typeof RewardService.method.createRewardAssignment> =>
  async (request, call) => {
    const projectId = call.project.id;
    const id = reservedOrNewId(request, call, () => deps.newId("rewa"));
    const reward = await findReward(deps.db, projectId, request.rewardId);
    if (reward === undefined) throw notFound("reward", request.rewardId);
    const row: AssignmentRow = {
      id,
      reward_id: reward.id,
      campaign_id: request.campaign,
      ...parseAssignmentPrice(reward.type, request.parameters),
      created_at: new Date(call.now),
      updated_at: null,
    };
    try {
      await insertAssignment(deps.db, projectId, row);
    } catch (error) {
      if (isForeignKeyViolation(error, "reward_assignment_of_reward")) {
        throw notFound("reward", reward.id);
      }
      if (isUniqueViolation(error, ONE_AUTO_REDEEM)) throw secondAutoRedeemError();
      if (!isUniqueViolation(error, ONE_PER_CAMPAIGN)) throw error;
      const name = { projectId, campaignId: row.campaign_id, rewardId: reward.id };
      const same = await findAssignmentsOfCampaigns(deps.db, [name]);
      const known = same.get(keyOf(projectId, row.campaign_id, reward.id));
      throw duplicate("reward_assignment", "id", known?.id ?? reward.id);
    }
    return rewardAssignmentToProto(row);
  };
