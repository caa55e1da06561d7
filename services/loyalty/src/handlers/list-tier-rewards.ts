import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import {
  ListTierRewardsResponseSchema,
  type LoyaltyTierService,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { rewardAssignmentToProto } from "../mapping/reward-assignment.ts";
import { rewardToProto } from "../mapping/reward.ts";
import { listPricedRewards } from "../reward/list-priced-rewards.ts";
import { requireTier } from "../tiers/require-tier.ts";

export const listTierRewards =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.listTierRewards> =>
  async (request, { project }) => {
    const { campaignId, tierId: id } = request;
    const projectId = project.id;
    const tier = await requireTier(deps, { projectId, campaignId, id });
    const { rewards, total } = await listPricedRewards(deps, {
      projectId,
      campaignId,
      tier,
      ...parsePage(request),
    });
    return create(ListTierRewardsResponseSchema, {
      data: rewards.map(({ reward, assignment }) => ({
        reward: rewardToProto(reward),
        assignment: rewardAssignmentToProto(assignment),
      })),
      total,
    });
  };
