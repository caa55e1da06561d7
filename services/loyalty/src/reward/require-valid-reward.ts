import { ApiError } from "@scrip/errors";

import { checkReward, type RewardParameters, type RewardType } from "../domain/reward.ts";

export function requireValidReward(
  type: RewardType,
  parameters: RewardParameters,
  stock: bigint | null,
): void {
  const violation = checkReward(type, parameters, stock);
  if (violation !== null) throw new ApiError(violation.key, { details: violation.details });
}
