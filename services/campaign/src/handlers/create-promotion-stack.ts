import type { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { categoryIdOf } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import { toStack } from "../mapping/promotion.ts";
import { invalidParams } from "../mapping/terms.ts";
import { lockPromotion } from "../promotion/plan-tiers.ts";
import { MAX_STACKS_OF_PROJECT, requireTiers } from "../promotion/stack-tiers.ts";
import { countStacks, findStack, insertStack } from "../store/promotion-stacks.ts";

export const createPromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.createPromotionStack> =>
  async (request, call) => {
    const projectId = call.project.id;
    const categoryId = (await categoryIdOf(deps, request, call)) ?? null;
    const tierIds = request.tiers?.ids ?? [];
    const record = await deps.definitions.write(projectId, async (tx) => {
      const campaign = await lockPromotion(tx, projectId, request.campaignId);
      if ((await countStacks(tx, projectId)) >= MAX_STACKS_OF_PROJECT) {
        throw invalidParams(`A project holds up to ${MAX_STACKS_OF_PROJECT} promotion stacks`);
      }
      await requireTiers(tx, projectId, tierIds);
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
    if (record === undefined) throw new Error("the stack that was just made is gone");
    return toStack(record);
  };
