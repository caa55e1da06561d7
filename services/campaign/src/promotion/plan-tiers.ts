import type {
  CreatePromotionTierRequest,
  NewPromotionTier,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { type Call, reservedOrNewId } from "@scrip/rpc";

import { resolveCategoryId } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import { assignHierarchies } from "../domain/tier-hierarchy.ts";
import { parseDiscount } from "../mapping/discount.ts";
import { parseValidity } from "../mapping/validity.ts";

type TierRequest = Omit<CreatePromotionTierRequest, "$typeName" | "campaignId"> | NewPromotionTier;

/** A checked new tier; without a requested hierarchy it depends on the other tiers of the campaign. */
export type PlannedTier = Omit<PromotionTier, "hierarchy"> & {
  readonly hierarchy: bigint | undefined;
};

export async function planTier(
  deps: Deps,
  call: Call,
  { campaignId, request }: { readonly campaignId: string; readonly request: TierRequest },
): Promise<PlannedTier> {
  const id = reservedOrNewId(request, call, () => deps.newId("promo"));
  const discount = request.action?.discount;
  if (discount === undefined) throw new Error("the contract requires a discount");
  const validity = parseValidity(request);
  return {
    id,
    campaignId,
    name: request.name,
    banner: request.banner ?? null,
    discount: parseDiscount(discount),
    hierarchy: request.hierarchy,
    active: request.active ?? true,
    validity,
    metadata: request.metadata ?? {},
    categoryId: (await resolveCategoryId(deps, request, call)) ?? null,
    createdAt: call.now,
    updatedAt: null,
  };
}

/** The tiers of a new campaign, in the order of the request. */
export async function planTiers(
  deps: Deps,
  call: Call,
  {
    campaignId,
    requests,
  }: { readonly campaignId: string; readonly requests: readonly NewPromotionTier[] },
): Promise<readonly PromotionTier[]> {
  const planned: PlannedTier[] = [];
  for (const request of requests) planned.push(await planTier(deps, call, { campaignId, request }));
  const hierarchies = assignHierarchies(planned.map(({ hierarchy }) => hierarchy));
  return planned.map((tier, index) => ({ ...tier, hierarchy: hierarchies[index] ?? 1n }));
}
