import { inUse, notFound } from "@scrip/errors";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listStacksContaining } from "../store/promotion-stacks.ts";
import { deleteTier, lockTier } from "../store/promotion-tiers.ts";

/** Maximum number of stack ids in the error. */
const MAX_LISTED_STACKS = 100;

export const deletePromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.deletePromotionTier> =>
  async ({ tierId }, { project }) => {
    await deps.definitions.write(project.id, async (tx) => {
      const locked = await lockTier(tx, project.id, tierId);
      if (locked === undefined) throw notFound("promotion_tier", tierId);
      const { ids, total } = await listStacksContaining(tx, project.id, {
        tierId,
        limit: MAX_LISTED_STACKS,
      });
      if (ids.length > 0) {
        throw inUse("promotion_tier", tierId, { type: "promotion_stack", ids, total });
      }
      await deleteTier(tx, project.id, tierId);
    });
    return { $typeName: "google.protobuf.Empty" };
  };
