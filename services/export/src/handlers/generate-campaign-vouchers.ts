import type { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { type Handler, stepCall } from "@scrip/rpc";

import { startCampaignAction } from "../campaign/start-campaign-action.ts";
import type { Deps } from "../deps.ts";

type Generate = Handler<typeof CampaignActionService.method.generateCampaignVouchers>;

export const generateCampaignVouchers =
  ({ db, campaignJobs, newId }: Deps): Generate =>
  async ({ vouchers }, call) => {
    const jobId = newId("aa");
    const request = { jobId, ...(vouchers !== undefined && { vouchers }) };
    const job = await campaignJobs.requestVouchers(request, stepCall(call, "request"));
    await db.transaction((tx) => startCampaignAction(tx, call, job));
    return { $typeName: "scrip.export.v1.AsyncActionStarted", asyncActionId: jobId };
  };
