import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { tierToProto, clientSideTierToProto } from "../mapping/promotion-tier.ts";
import { tierOrder } from "../promotion/tier-order.ts";
import { NEWEST_FIRST } from "../store/columns.ts";
import { listTiers } from "../store/promotion-tier-lists.ts";

export const listPromotionTiers =
  (deps: Deps): Handler<typeof PromotionService.method.listPromotionTiers> =>
  async (request, { project, caller, now }) => {
    const isClientSide = caller.side === "client";
    const { records, ...rest } = await listTiers(deps.db, {
      projectId: project.id,
      ...((isClientSide || request.isAvailable === true) && { availableAt: now }),
      createdAt: request.createdAt,
      ...tierOrder(request, NEWEST_FIRST),
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.campaign.v1.ListPromotionTiersResponse",
      tiers: records.map(isClientSide ? clientSideTierToProto : tierToProto),
      ...rest,
    };
  };
