import { notFound } from "@scrip/errors";
import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { findCampaign } from "../store/campaigns.ts";

export const getCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.getCampaign> =>
  async ({ campaignId }, { project }) => {
    const record = await findCampaign(deps.db, project.id, campaignId);
    if (record === undefined) throw notFound("campaign", campaignId);
    const [view] = await loadCampaignTiers(deps.db, project.id, [record]);
    return campaignToProto(view ?? record);
  };
