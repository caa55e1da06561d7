import { notFound } from "@scrip/errors";
import { validityFromProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import type {
  CreatePromotionTierRequest,
  NewPromotionTier,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { type Call, reservedOrNewId } from "@scrip/rpc";

import { categoryIdOf } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";
import type { Campaign } from "../domain/campaign.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import {
  invalidCampaign,
  invalidParams,
  requireDiscount,
  requireValidity,
} from "../mapping/terms.ts";
import { lockCampaign } from "../store/campaigns.ts";
import { MAX_TIERS_OF_CAMPAIGN } from "../store/promotion-tiers.ts";

/** A qualification looks at all tiers of a project, so that there are no more than this. */
const MAX_TIERS_OF_PROJECT = 5_000;

type TierBody = Omit<CreatePromotionTierRequest, "$typeName" | "campaignId"> | NewPromotionTier;

/** Everything of a new tier but its place, which depends on the others. */
export async function planTier(
  deps: Deps,
  call: Call,
  { campaignId, body }: { readonly campaignId: string; readonly body: TierBody },
): Promise<Omit<PromotionTier, "hierarchy"> & { readonly hierarchy: bigint | undefined }> {
  const id = reservedOrNewId(body, call, () => deps.newId("promo"));
  const discount = body.action?.discount;
  if (discount === undefined) throw new Error("the contract requires a discount");
  const validity = validityFromProto(body);
  requireValidity(validity);
  return {
    id,
    campaignId,
    name: body.name,
    banner: body.banner ?? null,
    discount: requireDiscount(discount),
    hierarchy: body.hierarchy,
    active: body.active ?? true,
    validity,
    metadata: body.metadata ?? {},
    categoryId: (await categoryIdOf(deps, { categoryId: body.categoryId }, call)) ?? null,
    createdAt: call.now,
    updatedAt: null,
  };
}

/** The tiers of a new campaign: each behind the one before, unless it says where. */
export async function planTiers(
  deps: Deps,
  call: Call,
  {
    campaignId,
    tiers,
  }: { readonly campaignId: string; readonly tiers: readonly NewPromotionTier[] },
): Promise<PromotionTier[]> {
  const planned: PromotionTier[] = [];
  let next = 1n;
  for (const body of tiers) {
    const tier = await planTier(deps, call, { campaignId, body });
    const hierarchy = tier.hierarchy ?? next;
    planned.push({ ...tier, hierarchy });
    next = hierarchy >= next ? hierarchy + 1n : next;
  }
  return planned;
}

/** The promotion that tiers and stacks are added to, held so that they are added one by one. */
export async function lockPromotion(
  tx: Queryable,
  projectId: string,
  idOrName: string,
): Promise<Campaign> {
  const found = await lockCampaign(tx, projectId, idOrName);
  if (found === undefined) throw notFound("campaign", idOrName);
  const { campaign } = found;
  if (campaign.campaignType !== "PROMOTION") {
    throw invalidCampaign(
      `Campaign ${campaign.id} is ${campaign.campaignType}: only PROMOTION campaigns have promotion tiers`,
    );
  }
  return campaign;
}

export function requireRoom(count: {
  readonly ofCampaign: number;
  readonly ofProject: number;
}): void {
  if (count.ofCampaign >= MAX_TIERS_OF_CAMPAIGN) {
    throw invalidParams(`A campaign holds up to ${MAX_TIERS_OF_CAMPAIGN} promotion tiers`);
  }
  if (count.ofProject >= MAX_TIERS_OF_PROJECT) {
    throw invalidParams(`A project holds up to ${MAX_TIERS_OF_PROJECT} promotion tiers`);
  }
}
