import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import type { Campaign } from "../domain/campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import { lockCampaignRow } from "../store/campaigns.ts";

/** Locks the promotion until the transaction ends, so that tiers and stacks are added one at a time. */
export async function lockPromotionCampaign(
  tx: Queryable,
  projectId: string,
  idOrName: string,
): Promise<Campaign> {
  const found = await lockCampaignRow(tx, projectId, idOrName);
  if (found === undefined) throw notFound("campaign", idOrName);
  requirePromotion(found.campaign);
  return found.campaign;
}

export function requirePromotion({ id, campaignType }: Campaign): void {
  if (campaignType === "PROMOTION") return;
  throw invalidCampaign(
    `Campaign ${id} is ${campaignType}: only PROMOTION campaigns have promotion tiers`,
  );
}
