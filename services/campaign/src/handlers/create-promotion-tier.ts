import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { requireTierCapacity } from "../promotion/capacity.ts";
import { lockPromotionCampaign, requirePromotion } from "../promotion/lock-promotion.ts";
import { planTier } from "../promotion/plan-tiers.ts";
import { countTiers, findTier, insertTier } from "../store/promotion-tiers.ts";

export const createPromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.createPromotionTier> =>
  async (request, call) => {
    const projectId = call.project.id;
    const found = await requireCampaign(deps.db, projectId, request.campaignId);
    // Before the category, which a rejected request must not create.
    requirePromotion(found.campaign);
    const campaignId = found.campaign.id;
    const planned = await planTier(deps, call, { campaignId, request });
    const record = await deps.definitions.write(projectId, async (tx) => {
      const campaign = await lockPromotionCampaign(tx, projectId, campaignId);
      const count = await countTiers(tx, projectId, campaign.id);
      requireTierCapacity(count);
      await insertTier(tx, projectId, {
        ...planned,
        hierarchy: planned.hierarchy ?? count.nextHierarchy,
      });
      return findTier(tx, projectId, planned.id);
    });
    if (record === undefined) throw new Error("the created tier does not exist");
    return tierToProto(record);
  };
