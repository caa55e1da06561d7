import { duplicate, invalidPayload, notFound, ApiError } from "@scrip/errors";
import { isForeignKeyViolation, isUniqueViolation } from "@scrip/postgres";
import type { AssignmentParameters, RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/card.ts";
import type { RewardType } from "../domain/reward.ts";
import { rewardAssignmentToProto } from "../mapping/reward.ts";
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

/** A COIN reward has its ratio instead of a price. */
export function parseAssignmentPrice(
  type: RewardType,
  parameters: AssignmentParameters | undefined,
): Pick<AssignmentRow, "points" | "auto_redeem"> {
  const { points, autoRedeem } = parameters?.loyalty ?? {};
  if (type === "COIN") {
    if (points !== undefined || autoRedeem === true) {
      throw invalidPayload("Property .parameters.loyalty does not belong to a COIN reward");
    }
    return { points: null, auto_redeem: null };
  }
  if (points === undefined) {
    const details =
      parameters?.loyalty === undefined
        ? "Parameter 'parameters.loyalty' is required"
        : "Parameter 'parameters.loyalty.points' is required";
    throw new ApiError("missing_param", { details });
  }
  return { points, auto_redeem: autoRedeem ?? false };
}

export const secondAutoRedeemError = (): ApiError =>
  invalidPayload("A campaign can have one reward with .parameters.loyalty.auto_redeem at most");
