import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
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
    const lockAndChange = async (tx: Queryable, categoryId: string | null) => {
      const locked = await lockStack(tx, key);
      if (locked === undefined) throw notFound("promotion_stack", request.stackId);
      const stack = applyRequest(locked.stack, request, { categoryId, now: call.now });
      await lockStackTiers(tx, projectId, stack.tierIds);
      return stack;
    };
    // Before the category, which a rejected request must not create.
    if (request.category !== undefined) {
      await deps.db.transaction((tx) => lockAndChange(tx, null));
    }
    const categoryId = (await resolveCategoryId(deps, request, call)) ?? null;
    const record = await deps.definitions.write(projectId, async (tx) => {
      await updateStack(tx, projectId, await lockAndChange(tx, categoryId));
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
    categoryId: sent.has("category_id") || sent.has("category") ? categoryId : stack.categoryId,
    metadata: sent.has("metadata") ? { ...stack.metadata, ...request.metadata } : stack.metadata,
    updatedAt: now,
  };
}
