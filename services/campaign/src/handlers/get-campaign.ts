import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";

export const getCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.getCampaign> =>
  async ({ campaignId }, { project }) => {
    const record = await requireCampaign(deps.db, project.id, campaignId);
    const [view] = await loadCampaignTiers(deps.db, project.id, [record]);
    return campaignToProto(view ?? record, project);
  };
