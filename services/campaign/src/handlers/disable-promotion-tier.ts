import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { toTier } from "../mapping/promotion.ts";
import { editTier, switched } from "../promotion/update-tier.ts";

export const disablePromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.disablePromotionTier> =>
  async ({ tierId }, { project, now }) =>
    toTier(await editTier(deps, { projectId: project.id, tierId }, switched(false, now)));
