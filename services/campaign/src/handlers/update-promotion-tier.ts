import { invalidPayload, notFound } from "@scrip/errors";
import type {
  PromotionService,
  UpdatePromotionTierRequest,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Handler } from "@scrip/rpc";

import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { parseDiscount } from "../mapping/discount.ts";
import { tierToProto } from "../mapping/promotion-tier.ts";
import { parseChangedValidity } from "../mapping/validity.ts";
import { changeTier } from "../promotion/change-tier.ts";
import { findTier } from "../store/promotion-tiers.ts";

export const updatePromotionTier =
  (deps: Deps): Handler<typeof PromotionService.method.updatePromotionTier> =>
  async (request, call) => {
    const { tierId, category = "" } = request;
    const projectId = call.project.id;
    // Before the category, which a rejected request must not create.
    if (category !== "" && (await findTier(deps.db, projectId, tierId)) === undefined) {
      throw notFound("promotion_tier", tierId);
    }
    const categoryId = (await resolveCategoryId(deps, request, call)) ?? null;
    const record = await changeTier(deps, { projectId, tierId }, (tier) =>
      applyRequest(tier, request, { categoryId, now: call.now }),
    );
    return tierToProto(record);
  };

function applyRequest(
  tier: PromotionTier,
  request: UpdatePromotionTierRequest,
  { categoryId, now }: { readonly categoryId: string | null; readonly now: number },
): PromotionTier {
  const sent = new Set(request.updateMask?.paths);
  const validity = parseChangedValidity(tier.validity, request, sent);
  return {
    ...tier,
    name: sent.has("name") ? required("name", request.name) : tier.name,
    banner: sent.has("banner") ? (request.banner ?? null) : tier.banner,
    discount: sent.has("action")
      ? parseDiscount(required("action.discount", request.action?.discount))
      : tier.discount,
    hierarchy: sent.has("hierarchy") ? required("hierarchy", request.hierarchy) : tier.hierarchy,
    active: sent.has("active") ? (request.active ?? true) : tier.active,
    categoryId: sent.has("category_id") || sent.has("category") ? categoryId : tier.categoryId,
    validity,
    metadata: sent.has("metadata") ? { ...tier.metadata, ...request.metadata } : tier.metadata,
    updatedAt: now,
  };
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw invalidPayload(`Property .${name} must not be null`);
  return value;
}
