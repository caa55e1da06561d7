import type { Transport } from "@connectrpc/connect";
import { type Reward, RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** Rewards by id. */
export type Rewards = {
  /** Throws `not_found` when no reward has this id. */
  load(rewardId: string, call: Call): Promise<Reward>;
};

export function createRewardsClient(transport: Transport): Rewards {
  const client = clientOf(RewardService, transport);
  return {
    load: (rewardId, call) => client.getReward({ rewardId }, { ...call, idempotency: undefined }),
  };
}
