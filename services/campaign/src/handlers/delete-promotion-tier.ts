import { inUse, notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listStacksWith } from "../store/promotion-stacks.ts";
import { deleteTier, lockTier } from "../store/promotion-tiers.ts";

/** How many of the stacks that hold a tier a refusal names. */
const MAX_NAMED = 100;

export const deletePromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.deletePromotionTier> =>
  async ({ tierId }, { project }) => {
    await deps.definitions.write(project.id, async (tx) => {
      const held = await lockTier(tx, project.id, tierId);
      if (held === undefined) throw notFound("promotion_tier", tierId);
      const { ids, total } = await listStacksWith(tx, project.id, { tierId, limit: MAX_NAMED });
      if (ids.length > 0) {
        throw inUse("promotion_tier", tierId, { type: "promotion_stack", ids, total });
      }
      await deleteTier(tx, project.id, tierId);
    });
    return { $typeName: "google.protobuf.Empty" };
  };
