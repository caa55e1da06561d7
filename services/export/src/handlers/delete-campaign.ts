import type { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import type { Handler } from "@scrip/rpc";

import { startCampaignAction } from "../campaign/start-campaign-action.ts";
import type { Deps } from "../deps.ts";

export const deleteCampaign =
  ({
    db,
    campaignJobs,
    newId,
  }: Deps): Handler<typeof CampaignActionService.method.deleteCampaign> =>
  async ({ campaignId, force = false }, call) => {
    const jobId = newId("aa");
    const job = await campaignJobs.requestDeletion({ jobId, campaignId, force }, call);
    await db.transaction((tx) => startCampaignAction(tx, call, job));
    return { $typeName: "scrip.export.v1.AsyncActionStarted", asyncActionId: jobId };
  };
