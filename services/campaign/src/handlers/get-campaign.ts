import { notFound } from "@scrip/errors";
import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type CampaignView, toCampaign } from "../mapping/campaign.ts";
import { type CampaignRecord, findCampaign } from "../store/campaigns.ts";
import { listTiersOf } from "../store/promotion-tiers.ts";

export const getCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.getCampaign> =>
  async ({ campaignId }, { project }) => {
    const record = await findCampaign(deps.db, project.id, campaignId);
    if (record === undefined) throw notFound("campaign", campaignId);
    const [view] = await withTiers(deps, project.id, [record]);
    return toCampaign(view ?? record);
  };

/** Promotions are answered with their tiers. */
export async function withTiers(
  deps: Pick<Deps, "db">,
  projectId: string,
  records: readonly CampaignRecord[],
): Promise<readonly CampaignView[]> {
  const promotions = records.flatMap(({ campaign }) =>
    campaign.campaignType === "PROMOTION" ? campaign.id : [],
  );
  const tiers = await listTiersOf(deps.db, projectId, promotions);
  return records.map((record) => ({ ...record, tiers: tiers.get(record.campaign.id) }));
}
