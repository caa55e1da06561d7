import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { NEWEST_FIRST } from "../store/columns.ts";
import { listStacks } from "../store/promotion-stacks.ts";

export const listCampaignStacks =
  (deps: Deps): Handler<typeof PromotionService.method.listCampaignStacks> =>
  async (request, { project }) => {
    const found = await requireCampaign(deps.db, project.id, request.campaignId);
    const { records, total } = await listStacks(deps.db, {
      projectId: project.id,
      campaignId: found.campaign.id,
      createdAt: request.createdAt,
      updatedAt: request.updatedAt,
      order: request.order ?? NEWEST_FIRST,
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionStacksResponse",
      data: records.map((record) => stackToProto(record)),
      total,
    };
  };
