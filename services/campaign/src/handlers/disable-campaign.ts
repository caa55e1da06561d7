import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { setCampaignActive } from "../campaign/set-campaign-active.ts";
import type { Deps } from "../deps.ts";

export const disableCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.disableCampaign> =>
  async ({ campaignId }, call) => {
    await setCampaignActive(deps, call, { campaignId, active: false });
    return { $typeName: "scrip.campaign.v1.DisableCampaignResponse" };
  };
