import { enumName, instantFromProto } from "@scrip/mapping";
import type { PromotionStack, PromotionTier } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import type { Candidate as VoucherCandidate } from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import type { LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import type { Candidate } from "../domain/qualification/candidate.ts";
import type { ResolvedRedeemables } from "./decision-context.ts";
import type { Promotions } from "./promotions.ts";

/** A candidate with the data to decide on it. */
export type LoadedCandidate = {
  readonly candidate: Candidate;
  /** For a voucher. */
  readonly voucher: LoadedVoucher | null;
  /** For a stack: its tiers in the order of application. */
  readonly tierIds: readonly string[];
};

export function candidateFromVoucher({
  voucher: context,
  campaignType,
}: Pick<VoucherCandidate, "voucher" | "campaignType">): readonly LoadedCandidate[] {
  const voucher = context?.voucher;
  if (context === undefined || voucher?.createdAt === undefined) return [];
  const candidate: Candidate = {
    object: "voucher",
    id: voucher.code,
    resourceId: voucher.id,
    createdAt: instantFromProto(voucher.createdAt),
    categoryIds: voucher.categoryId === undefined ? [] : [voucher.categoryId],
    campaignId: voucher.campaignId ?? null,
    campaignType: campaignType ?? null,
    voucherType: enumName(VoucherType, voucher.type) ?? null,
    isPublishedToCustomer: voucher.holderId !== undefined,
  };
  return [{ candidate, voucher: context, tierIds: [] }];
}

export const candidateFromTier = (
  tier: PromotionTier,
  promotions: Promotions,
): LoadedCandidate => ({
  candidate: { ...candidateFromPromotion(tier, promotions), object: "promotion_tier" },
  voucher: null,
  tierIds: [tier.id],
});

export const candidateFromStack = (
  stack: PromotionStack,
  promotions: Promotions,
): LoadedCandidate => ({
  candidate: { ...candidateFromPromotion(stack, promotions), object: "promotion_stack" },
  voucher: null,
  tierIds: stack.tiers?.ids ?? [],
});

function candidateFromPromotion(
  { id, createdAt, campaignId, categories }: PromotionTier | PromotionStack,
  { campaigns }: Promotions,
): Omit<Candidate, "object"> {
  if (createdAt === undefined) throw new Error(`${id} has no creation time`);
  const ofCampaign = campaigns.get(campaignId)?.categories ?? [];
  return {
    id,
    resourceId: id,
    createdAt: instantFromProto(createdAt),
    categoryIds: [...categories, ...ofCampaign].map((category) => category.id),
    campaignId,
    campaignType: "PROMOTION",
    voucherType: null,
    isPublishedToCustomer: false,
  };
}

/** The candidates as redeemables to decide on; a tier that several stacks share is listed once. */
export function resolvedCandidates(
  { promotions }: { readonly promotions: Promotions },
  found: readonly LoadedCandidate[],
): ResolvedRedeemables {
  const tierIds = [...new Set(found.flatMap((one) => one.tierIds))];
  const tiers = tierIds.flatMap((id) => promotions.tiers.get(id) ?? []);
  const campaigns = tiers.flatMap(({ campaignId }) => promotions.campaigns.get(campaignId) ?? []);
  const vouchers = found.flatMap(({ candidate, voucher }) =>
    voucher === null ? [] : [[candidate.id, voucher] as const],
  );
  return {
    redeemables: [
      ...vouchers.map(([id]) => ({ object: "voucher" as const, id })),
      ...tierIds.map((id) => ({ object: "promotion_tier" as const, id })),
    ],
    vouchers: new Map(vouchers),
    promotions: {
      stacks: promotions.stacks,
      tiers: new Map(tiers.map((tier) => [tier.id, tier])),
      campaigns: new Map(campaigns.map((campaign) => [campaign.id, campaign])),
    },
    storedOutcome: undefined,
  };
}
