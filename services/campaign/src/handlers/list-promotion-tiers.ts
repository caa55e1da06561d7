import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listTiers } from "../store/tier-lists.ts";
import { NEWEST_FIRST, pageOf } from "./page.ts";
import { toTier } from "./promotion-message.ts";

export const listPromotionTiers =
  (deps: Deps): Handler<typeof PromotionService.method.listPromotionTiers> =>
  async (request, { project, now }) => {
    const { records, total } = await listTiers(deps.db, {
      projectId: project.id,
      ...(request.isAvailable === true && { availableAt: now }),
      order: request.order ?? NEWEST_FIRST,
      ...pageOf(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionTiersResponse",
      tiers: records.map((record) => toTier(record)),
      total,
    };
  };
