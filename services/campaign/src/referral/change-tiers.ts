import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { ReferralTier } from "../domain/referral-program.ts";
import { referralTiersToProto } from "../mapping/referral-tier.ts";
import { lockCampaignRow } from "../store/campaigns.ts";
import { findReferralTiers, updateReferralTier } from "../store/referral-tiers.ts";

export type TierPath = { readonly campaignId: string; readonly tierId: string };

type Tiers = { readonly campaignId: string; readonly tiers: readonly ReferralTier[] };

/**
 * Changes the tiers of a referral program, and replicates them to the voucher service before the commit: changes are
 * replicated in their order, and one that cannot be replicated is not made.
 */
export async function changeTiers<Result>(
  deps: Deps,
  { idOrName, call }: { readonly idOrName: string; readonly call: Call },
  change: (tx: Queryable, before: Tiers) => Promise<Result>,
): Promise<Result> {
  const projectId = call.project.id;
  return deps.db.transaction(async (tx) => {
    const found = await lockCampaignRow(tx, projectId, idOrName);
    if (found?.campaign.campaignType !== "REFERRAL_PROGRAM") throw notFound("campaign", idOrName);
    const campaignId = found.campaign.id;
    const tiers = await findReferralTiers(tx, projectId, campaignId);
    const result = await change(tx, { campaignId, tiers });
    const after = await findReferralTiers(tx, projectId, campaignId);
    const referralTiers = referralTiersToProto(after);
    await deps.vouchers.updateVouchers({ campaignId, referralTiers }, call);
    return result;
  });
}

/** Changes one tier and returns it. */
export const changeTier = (
  deps: Deps,
  call: Call,
  { campaignId, tierId }: TierPath,
  edit: (tier: ReferralTier) => ReferralTier,
): Promise<ReferralTier> =>
  changeTiers(deps, { idOrName: campaignId, call }, async (tx, { tiers }) => {
    const changed = { ...edit(requireTier(tiers, tierId)), updatedAt: call.now };
    await updateReferralTier(tx, call.project.id, changed);
    return changed;
  });

export function requireTier(tiers: readonly ReferralTier[], id: string): ReferralTier {
  const tier = tiers.find((each) => each.id === id);
  if (tier === undefined) throw notFound("referral_tier", id);
  return tier;
}
