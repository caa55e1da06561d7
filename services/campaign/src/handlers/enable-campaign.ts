import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { setCampaignActive } from "../campaign/set-campaign-active.ts";
import type { Deps } from "../deps.ts";

export const enableCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.enableCampaign> =>
  async ({ campaignId }, call) => {
    await setCampaignActive(deps, call, { campaignId, active: true });
    return { $typeName: "scrip.campaign.v1.EnableCampaignResponse" };
  };
