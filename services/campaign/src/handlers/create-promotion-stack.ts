import type { Queryable } from "@scrip/postgres";
import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { requireStackCapacity } from "../promotion/capacity.ts";
import { lockPromotionCampaign } from "../promotion/lock-promotion.ts";
import { lockStackTiers } from "../promotion/stack-tiers.ts";
import { countStacks, findStack, insertStack } from "../store/promotion-stacks.ts";

export const createPromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.createPromotionStack> =>
  async (request, call) => {
    const projectId = call.project.id;
    const tierIds = request.tiers?.ids ?? [];
    const lockCampaign = async (tx: Queryable) => {
      const campaign = await lockPromotionCampaign(tx, projectId, request.campaignId);
      requireStackCapacity(await countStacks(tx, projectId));
      await lockStackTiers(tx, projectId, tierIds);
      return campaign;
    };
    // Before the category, which a rejected request must not create.
    if (request.category !== undefined) await deps.db.transaction(lockCampaign);
    const categoryId = (await resolveCategoryId(deps, request, call)) ?? null;
    const record = await deps.definitions.write(projectId, async (tx) => {
      const campaign = await lockCampaign(tx);
      const stack = {
        id: deps.newId("stack"),
        campaignId: campaign.id,
        name: request.name,
        tierIds,
        categoryId,
        metadata: request.metadata ?? {},
        createdAt: call.now,
        updatedAt: null,
      };
      await insertStack(tx, projectId, stack);
      return findStack(tx, { projectId, campaignId: campaign.id, id: stack.id });
    });
    if (record === undefined) throw new Error("the created stack does not exist");
    return stackToProto(record);
  };
