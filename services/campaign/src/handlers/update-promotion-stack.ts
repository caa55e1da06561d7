import { invalidPayload, notFound } from "@scrip/errors";
import type {
  PromotionService,
  UpdatePromotionStackRequest,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { PromotionStack } from "../domain/promotion.ts";
import { stackToProto } from "../mapping/promotion-stack.ts";
import { resolveStackKey } from "../promotion/stack-key.ts";
import { lockStackTiers } from "../promotion/stack-tiers.ts";
import { findStack, lockStack, updateStack } from "../store/promotion-stacks.ts";

export const updatePromotionStack =
  (deps: Deps): Handler<typeof PromotionService.method.updatePromotionStack> =>
  async (request, call) => {
    const projectId = call.project.id;
    const key = await resolveStackKey(deps.db, projectId, request);
    const categoryId = (await resolveCategoryId(deps, request, call)) ?? null;
    const record = await deps.definitions.write(projectId, async (tx) => {
      const locked = await lockStack(tx, key);
      if (locked === undefined) throw notFound("promotion_stack", request.stackId);
      const stack = applyRequest(locked.stack, request, { categoryId, now: call.now });
      await lockStackTiers(tx, projectId, stack.tierIds);
      await updateStack(tx, projectId, stack);
      return findStack(tx, key);
    });
    if (record === undefined) throw new Error("a locked stack does not exist");
    return stackToProto(record);
  };

function applyRequest(
  stack: PromotionStack,
  request: UpdatePromotionStackRequest,
  { categoryId, now }: { readonly categoryId: string | null; readonly now: number },
): PromotionStack {
  const sent = new Set(request.updateMask?.paths);
  if (sent.has("name") && request.name === undefined) {
    throw invalidPayload("Property .name must not be null");
  }
  if (sent.has("tiers") && request.tiers === undefined) {
    throw invalidPayload("Property .tiers must not be null");
  }
  return {
    ...stack,
    name: request.name ?? stack.name,
    tierIds: request.tiers?.ids ?? stack.tierIds,
    categoryId: sent.has("category_id") ? categoryId : stack.categoryId,
    metadata: sent.has("metadata") ? { ...stack.metadata, ...request.metadata } : stack.metadata,
    updatedAt: now,
  };
}
