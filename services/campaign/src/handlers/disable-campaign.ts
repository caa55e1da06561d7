import type { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { setActive } from "../campaign/set-campaign-active.ts";
import type { Deps } from "../deps.ts";

export const disableCampaign =
  (deps: Deps): Handler<typeof CampaignService.method.disableCampaign> =>
  async ({ campaignId }, call) => {
    await setActive(deps, call, { campaignId, active: false });
    return { $typeName: "scrip.campaign.v1.DisableCampaignResponse" };
  };
