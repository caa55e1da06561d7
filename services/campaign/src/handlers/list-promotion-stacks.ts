import { parsePage } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { NEWEST_FIRST } from "../store/columns.ts";
import { listStacks } from "../store/promotion-stacks.ts";

export const listPromotionStacks =
  (deps: Deps): Handler<typeof PromotionService.method.listPromotionStacks> =>
  async (request, { project }) => {
    const { records, total } = await listStacks(deps.db, {
      projectId: project.id,
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
