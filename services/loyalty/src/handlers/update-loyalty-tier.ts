import { notFound } from "@scrip/errors";
import type {
  LoyaltyTierService,
  UpdateLoyaltyTierRequest,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import {
  earningMappingsFromProto,
  priceMappingsFromProto,
  rangeFromProto,
  tierToProto,
} from "../mapping/loyalty-tier.ts";
import { updateTier } from "../store/loyalty-tiers.ts";
import { changeTiers, requireMapped } from "../tiers/write-tiers.ts";

export const updateLoyaltyTier =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.updateLoyaltyTier> =>
  async (request, call) => {
    const { project, now } = call;
    const { campaignId, tierId } = request;
    const program = { projectId: project.id, campaignId };
    const tier = await changeTiers(deps, { call, campaignId }, async (tx, tiers) => {
      const before = tiers.find(({ id, deleted }) => id === tierId && !deleted);
      if (before === undefined) throw notFound("loyalty_tier", tierId);
      const after = updated(before, request, now);
      await requireMapped(tx, program, [after]);
      await updateTier(tx, project.id, after);
      return {
        tiers: tiers.map((each) => (each === before ? after : each)),
        evaluates: before.from !== after.from || before.to !== after.to,
        result: after,
      };
    });
    return tierToProto(tier);
  };

function updated(tier: Tier, request: UpdateLoyaltyTierRequest, now: number): Tier {
  const sent = new Set(request.updateMask?.paths);
  const { name = tier.name, points, earningRules, rewards, metadata } = request;
  return {
    ...tier,
    name,
    ...(points !== undefined && rangeFromProto(points)),
    ...(sent.has("earning_rules") && { earningRules: earningMappingsFromProto(earningRules) }),
    ...(sent.has("rewards") && { rewards: priceMappingsFromProto(rewards) }),
    metadata: { ...tier.metadata, ...metadata },
    updatedAt: now,
  };
}
