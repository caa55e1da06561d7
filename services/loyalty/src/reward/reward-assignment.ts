import { notFound } from "@scrip/errors";
import { isUniqueViolation } from "@scrip/postgres";
import type { AssignmentParameters } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import type { Deps } from "../deps.ts";
import {
  type AssignmentReference,
  type AssignmentRow,
  deleteAssignment,
  findAssignment,
  ONE_AUTO_REDEEM,
  updateAssignment,
} from "../store/reward-assignments.ts";
import { findReward, type RewardRow } from "../store/rewards.ts";
import { parseAssignmentPrice, secondAutoRedeemError } from "./assignment-price.ts";

export async function requireRewardAssignment(
  deps: Deps,
  name: AssignmentReference,
): Promise<AssignmentRow> {
  const row = await findAssignment(deps.db, name);
  if (row === undefined) throw notFound("reward_assignment", name.id);
  return row;
}

/** Exists: a reward cannot be deleted before its assignments. */
export async function requireRewardOfAssignment(
  deps: Deps,
  projectId: string,
  { reward_id: rewardId }: AssignmentRow,
): Promise<RewardRow> {
  const reward = await findReward(deps.db, projectId, rewardId);
  if (reward === undefined) throw notFound("reward", rewardId);
  return reward;
}

/** Changes the price; both update RPCs of assignments use it. */
export async function changeRewardAssignment(
  deps: Deps,
  name: AssignmentReference,
  { parameters, at }: { readonly parameters: AssignmentParameters | undefined; readonly at: Date },
): Promise<{ readonly row: AssignmentRow; readonly reward: RewardRow }> {
  const stored = await requireRewardAssignment(deps, name);
  const reward = await requireRewardOfAssignment(deps, name.projectId, stored);
  if (parameters?.loyalty === undefined) return { row: stored, reward };
  const loyalty = {
    ...parameters.loyalty,
    points: parameters.loyalty.points ?? stored.points ?? undefined,
    autoRedeem: parameters.loyalty.autoRedeem ?? stored.auto_redeem ?? undefined,
  };
  const price = parseAssignmentPrice(reward.type, { ...parameters, loyalty });
  try {
    const row = await updateAssignment(deps.db, name, { ...price, updated_at: at });
    if (row === undefined) throw notFound("reward_assignment", name.id);
    return { row, reward };
  } catch (error) {
    if (isUniqueViolation(error, ONE_AUTO_REDEEM)) throw secondAutoRedeemError();
    throw error;
  }
}

export async function removeRewardAssignment(deps: Deps, name: AssignmentReference): Promise<void> {
  if (!(await deleteAssignment(deps.db, name))) throw notFound("reward_assignment", name.id);
}
