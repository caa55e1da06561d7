import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import { lockLiveCampaign, type NewCampaign, upsertCampaign } from "../store/campaigns.ts";

/**
 * Stores the settings of a campaign that gets vouchers. The campaign cannot be deleted until the transaction ends, so
 * that its deletion finds all vouchers.
 */
export async function upsertLiveCampaign(
  tx: Queryable,
  projectId: string,
  campaign: NewCampaign,
): Promise<void> {
  await upsertCampaign(tx, projectId, campaign);
  if (await lockLiveCampaign(tx, projectId, campaign.id)) return;
  throw notFound("campaign", campaign.id);
}
