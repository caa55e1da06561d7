import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { changeTier, setTierActive } from "../promotion/change-tier.ts";

export const enablePromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.enablePromotionTier> =>
  async ({ tierId }, { project, now }) =>
    tierToProto(
      await changeTier(deps, { projectId: project.id, tierId }, setTierActive(true, now)),
    );
