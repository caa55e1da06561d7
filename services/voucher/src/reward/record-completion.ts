import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardCompleted } from "../events/reward-completed.ts";
import {
  completeRewardRedemption,
  type GivenReward,
  type RewardRedemptionKey,
} from "../store/reward-redemptions.ts";

/** Records that a reward was given, with its event. The reward must be locked. */
export async function recordCompletion(
  tx: Queryable,
  { deps: { newId }, call }: { readonly deps: Pick<Deps, "newId">; readonly call: Call },
  reward: RewardRedemptionKey,
  given: GivenReward,
): Promise<void> {
  const completed = await completeRewardRedemption(tx, reward, given);
  await enqueue(tx, [rewardCompleted(newId("event"), completed)], call);
}
