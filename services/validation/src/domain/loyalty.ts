import { type Refused, resourceNotFound } from "./refusal.ts";

/**
 * Loyalty cards are redeemed for a reward (spec/validation-and-redemption.md §8.5). No campaign can
 * assign rewards yet, so whichever one is named is not there.
 */
export const refuseReward = (rewardId: string | null): Refused =>
  rewardId === null ? missingReward : resourceNotFound("reward", rewardId);

const missingReward: Refused = {
  key: "missing_reward",
  details: "A reward is required when redeeming a LOYALTY_CARD",
};
