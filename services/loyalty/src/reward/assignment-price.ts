import { ApiError, invalidPayload } from "@scrip/errors";
import type { AssignmentParameters } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";

import type { RewardType } from "../domain/reward.ts";
import type { AssignmentRow } from "../store/reward-assignments.ts";

/** The price of a reward in one campaign; a COIN reward has a ratio instead (docs/gift-and-points.md#rewards). */
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
  invalidPayload("Only one reward of a campaign can have .parameters.loyalty.auto_redeem");
