import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { listTiers } from "../store/promotion-tier-lists.ts";

export const listCampaignTiers =
  (deps: Deps): Handler<typeof PromotionService.method.listCampaignTiers> =>
  async (request, { project }) => {
    const found = await requireCampaign(deps.db, project.id, request.campaignId);
    const { records, total } = await listTiers(deps.db, {
      projectId: project.id,
      campaignId: found.campaign.id,
      order: request.order ?? "hierarchy",
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionTiersResponse",
      tiers: records.map((record) => tierToProto(record)),
      total,
    };
  };
