import { create } from "@bufbuild/protobuf";
import { parsePage } from "@scrip/postgres";
import {
  ListLoyaltyTiersResponseSchema,
  type LoyaltyTierService,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/loyalty-tier.ts";
import { listTiers } from "../store/loyalty-tiers.ts";
import { orderByTime } from "../store/order-by-time.ts";

export const listLoyaltyTiers =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.listLoyaltyTiers> =>
  async (request, { project }) => {
    const { tiers, total } = await listTiers(deps.db, {
      projectId: project.id,
      campaignId: request.campaignId,
      createdAt: request.createdAt,
      order: orderByTime(request.order),
      ...parsePage(request),
    });
    return create(ListLoyaltyTiersResponseSchema, {
      data: tiers.map((tier) => tierToProto(tier)),
      total,
    });
  };
