import { notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { findTier } from "../store/promotion-tiers.ts";

export const getPromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.getPromotionTier> =>
  async ({ tierId }, { project }) => {
    const record = await findTier(deps.db, project.id, tierId);
    if (record === undefined) throw notFound("promotion_tier", tierId);
    return tierToProto(record);
  };
