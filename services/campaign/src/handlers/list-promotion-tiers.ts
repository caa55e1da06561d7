import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toTier, toTierOnSale } from "../mapping/promotion.ts";
import { NEWEST_FIRST } from "../page.ts";
import { listTiers } from "../store/promotion-tier-lists.ts";

export const listPromotionTiers =
  (deps: Deps): Handler<typeof PromotionService.method.listPromotionTiers> =>
  async (request, { project, caller, now }) => {
    const isPage = caller.side === "client";
    const { records, total } = await listTiers(deps.db, {
      projectId: project.id,
      ...((isPage || request.isAvailable === true) && { availableAt: now }),
      order: request.order ?? NEWEST_FIRST,
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionTiersResponse",
      tiers: records.map(isPage ? toTierOnSale : toTier),
      total,
    };
  };
