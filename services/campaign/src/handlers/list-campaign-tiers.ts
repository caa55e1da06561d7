import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { tierOrder } from "../promotion/tier-order.ts";
import { listTiers } from "../store/promotion-tier-lists.ts";

export const listCampaignTiers =
  (deps: Deps): Handler<typeof PromotionService.method.listCampaignTiers> =>
  async (request, { project }) => {
    const found = await requireCampaign(deps.db, project.id, request.campaignId);
    const { records, ...rest } = await listTiers(deps.db, {
      projectId: project.id,
      campaignId: found.campaign.id,
      createdAt: request.createdAt,
      ...tierOrder(request, "hierarchy"),
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionTiersResponse",
      tiers: records.map((record) => tierToProto(record)),
      ...rest,
    };
  };
