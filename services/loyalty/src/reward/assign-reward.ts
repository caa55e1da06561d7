import { duplicate, notFound } from "@scrip/errors";
import { isForeignKeyViolation, isUniqueViolation, type Queryable } from "@scrip/postgres";
import type { AssignmentParameters } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import { keyOf } from "../domain/key.ts";
import {
  type AssignmentRow,
  findAssignmentsOfCampaigns,
  insertAssignment,
  ONE_AUTO_REDEEM,
  ONE_PER_CAMPAIGN,
} from "../store/reward-assignments.ts";
import { findReward, type RewardRow } from "../store/rewards.ts";
import { parseAssignmentPrice, secondAutoRedeemError } from "./assignment-price.ts";

type NewAssignment = {
  readonly id: string;
  readonly projectId: string;
  readonly rewardId: string;
  readonly campaignId: string;
  readonly parameters: AssignmentParameters | undefined;
  readonly now: number;
};

type Pair = Pick<NewAssignment, "projectId" | "campaignId" | "rewardId">;

class AlreadyAssigned extends Error {
  readonly pair: Pair;

  constructor(pair: Pair) {
    super("the reward is assigned to the program");
    this.pair = pair;
  }
}

/** Rejects a duplicate by the id of its assignment, which is read when the transaction of `assign` has failed. */
export async function rejectingDuplicates<T>(db: Queryable, assign: () => Promise<T>): Promise<T> {
  try {
    return await assign();
  } catch (error) {
    if (!(error instanceof AlreadyAssigned)) throw error;
    const { projectId, campaignId, rewardId } = error.pair;
    const same = await findAssignmentsOfCampaigns(db, [error.pair]);
    const known = same.get(keyOf(projectId, campaignId, rewardId));
    throw duplicate("reward_assignment", "id", known?.id ?? rewardId);
  }
}

/** Assigns a reward to a program; call it in `rejectingDuplicates`. */
export async function assignReward(
  tx: Queryable,
  { id, projectId, rewardId, campaignId, parameters, now }: NewAssignment,
): Promise<{ readonly row: AssignmentRow; readonly reward: RewardRow }> {
  const reward = await findReward(tx, projectId, rewardId);
  if (reward === undefined) throw notFound("reward", rewardId);
  const row: AssignmentRow = {
    id,
    reward_id: reward.id,
    campaign_id: campaignId,
    ...parseAssignmentPrice(reward.type, parameters),
    created_at: new Date(now),
    updated_at: null,
  };
  try {
    await insertAssignment(tx, projectId, row);
  } catch (error) {
    if (isForeignKeyViolation(error, "reward_assignment_of_reward")) {
      throw notFound("reward", reward.id);
    }
    if (isUniqueViolation(error, ONE_AUTO_REDEEM)) throw secondAutoRedeemError();
    if (!isUniqueViolation(error, ONE_PER_CAMPAIGN)) throw error;
    throw new AlreadyAssigned({ projectId, campaignId, rewardId });
  }
  return { row, reward };
}
