import type { Queryable } from "@scrip/postgres";

import type { CampaignWithTiers } from "../mapping/campaign.ts";
import type { CampaignRecord } from "../store/campaigns.ts";
import { listTiersOfCampaigns } from "../store/promotion-tiers.ts";

/** Adds their tiers to the promotions among the campaigns. */
export async function loadCampaignTiers(
  db: Queryable,
  projectId: string,
  records: readonly CampaignRecord[],
): Promise<readonly CampaignWithTiers[]> {
  const promotions = records.flatMap(({ campaign }) =>
    campaign.campaignType === "PROMOTION" ? campaign.id : [],
  );
  const tiers = await listTiersOfCampaigns(db, projectId, promotions);
  return records.map((record) => ({ ...record, tiers: tiers.get(record.campaign.id) }));
}
